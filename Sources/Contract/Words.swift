public import Control

extension LibraryState: Region {}
extension SlideshowState: Region {}
extension ApplicationError: CodedError {}

/// What Compute answers: pure functions.
public enum ComputePort {
    /// Makes a slideshow of its parts.
    public static let createSlideshow = Symbol<NewSlideshow, Slideshow>(
        "Compute.Slideshow.create", .replayable.summary("makes a slideshow of its parts"))
    /// Renames, reorders, removes and titles.
    public static let updateSlideshow = Symbol<SlideshowChange, Slideshow>(
        "Compute.Slideshow.update",
        .replayable.summary("renames, reorders, removes and titles slides"))
    /// Changes how a slideshow is shown.
    public static let applyConfig = Symbol<ConfigChange, Slideshow>(
        "Compute.Slideshow.applyConfig", .replayable.summary("changes how a slideshow is shown"))
    /// Adds photos at the end.
    public static let appendPhotos = Symbol<AppendPhotos, Slideshow>(
        "Compute.Slideshow.appendPhotos", .replayable.summary("adds photos at the end"))
    /// Keeps the image files that are not there yet, in natural order.
    public static let selectPhotos = Symbol<SelectPhotos, [String]>(
        "Compute.Photos.select", .replayable.summary("keeps new image files, in natural order"))
}

/// What Infrastructure answers: the store and the disk.
public enum InfrastructurePort {
    private static let reading = Traits.replayable.limits(attempt: 5_000, deadline: 20_000)
    private static let writing = Traits.keyed.limits(attempt: 5_000, deadline: 20_000)

    /// The list of the library.
    public static let fetchSummaries = Symbol<Void, [SlideshowSummary]>(
        "Infrastructure.Library.fetchSummaries", reading.summary("reads the list of the library"))
    /// One slideshow with its slides; `notFound` when there is none.
    public static let fetchSlideshow = Symbol<SlideshowID, Slideshow>(
        "Infrastructure.Slideshow.fetch", reading.summary("reads a slideshow with its slides"))
    /// The slideshow that an update names, with the update; `notFound` when there is none.
    public static let fetchForUpdate = Symbol<UpdateSlideshow, SlideshowChange>(
        "Infrastructure.Slideshow.fetchForUpdate",
        reading.summary("reads the slideshow that an update names"))
    /// The slideshow that a new configuration names, with it; `notFound` when there is none.
    public static let fetchForConfig = Symbol<UpdateConfig, ConfigChange>(
        "Infrastructure.Slideshow.fetchForConfig",
        reading.summary("reads the slideshow that a new configuration names"))
    /// Stores a slideshow unless its id is there; returns what is stored.
    public static let insertSlideshow = Symbol<Slideshow, Slideshow>(
        "Infrastructure.Slideshow.insert", writing.summary("stores a slideshow if it is new"))
    /// Stores a slideshow, replacing what had its id.
    public static let saveSlideshow = Symbol<Slideshow, Void>(
        "Infrastructure.Slideshow.save", writing.summary("stores a slideshow"))
    /// Stores a changed slideshow if the stored one still has its version.
    public static let replaceSlideshow = Symbol<Slideshow, Replacement>(
        "Infrastructure.Slideshow.replace",
        writing.summary("stores a changed slideshow unless another change came first"))
    /// Removes a slideshow; `notFound` when there is none.
    public static let deleteSlideshow = Symbol<SlideshowID, Void>(
        "Infrastructure.Slideshow.delete", writing.summary("removes a slideshow"))
    /// The configuration of new slideshows.
    public static let loadConfig = Symbol<Void, Config>(
        "Infrastructure.Config.load", reading.summary("reads the configuration of new slideshows"))
    /// Stores the configuration of new slideshows.
    public static let saveConfig = Symbol<Config, Void>(
        "Infrastructure.Config.save", writing.summary("stores the configuration of new slideshows"))
    /// The next image files under some paths.
    public static let scanPhotos = Symbol<ScanPhotos, PhotoPage>(
        "Infrastructure.Photos.scan", reading.summary("finds image files, a page at a time"))
}

/// What Circuit answers: the commands of the application, each a pipe.
public enum CircuitPort {
    private static let command = Traits.replayable.lane("library")
        .limits(attempt: 10_000, deadline: 60_000)

    /// Reads the library into its region.
    public static let fetchAll = Symbol<Void, [SlideshowSummary]>(
        "Circuit.Library.fetchAll", command.summary("reads the library into its region"))
    /// Makes a slideshow of files and folders; the same id again changes nothing.
    public static let createSlideshow = Symbol<CreateSlideshow, SlideshowSummary>(
        "Circuit.Slideshow.create", command.summary("makes a slideshow of files and folders"))
    /// Renames, reorders, removes and titles.
    public static let updateSlideshow = Symbol<UpdateSlideshow, SlideshowSummary>(
        "Circuit.Slideshow.update", command.summary("changes a slideshow"))
    /// Changes how a slideshow is shown.
    public static let updateConfig = Symbol<UpdateConfig, SlideshowSummary>(
        "Circuit.Slideshow.updateConfig", command.summary("changes how a slideshow is shown"))
    /// Removes a slideshow.
    public static let deleteSlideshow = Symbol<SlideshowID, SlideshowID>(
        "Circuit.Slideshow.delete", command.summary("removes a slideshow"))
    /// Opens a slideshow.
    public static let openSlideshow = Symbol<SlideshowID, SlideshowSummary>(
        "Circuit.Slideshow.open", command.summary("opens a slideshow"))
    /// Closes the open slideshow.
    public static let closeSlideshow = Symbol<Void, Void>(
        "Circuit.Slideshow.close", command.summary("closes the open slideshow"))
    /// Adds the image files of files and folders.
    public static let addPhotos = Symbol<AddPhotos, SlideshowSummary>(
        "Circuit.Slideshow.addPhotos", command.summary("adds photos to a slideshow"))
    /// Fails with what an import has left out, so that `Kernel.Errors` tells of it.
    public static let tellLeftOut = Symbol<LeftOut, Void>(
        "Circuit.Photos.tellLeftOut", .replayable.summary("tells what an import has left out"))
    /// Stores the configuration of new slideshows.
    public static let saveConfig = Symbol<Config, Config>(
        "Circuit.Config.save", command.summary("stores the configuration of new slideshows"))
}
