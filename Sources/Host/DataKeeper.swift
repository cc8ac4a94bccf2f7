// A kernel is the only one that keeps its data in a folder. What says so is a lock on a file in it,
// which tools can ask about, and one on the folder itself, which stays when the file is removed.
// Both end with the process. As the socket, the file and the folder are put back when somebody
// removes them: a lock counts only while it is on what stands at the path.

import Glibc
import Installation
import UnixSocket

@LoopActor
final class DataKeeper {
    private let folders: InstanceFolders
    private let tell: @LoopActor (String) -> Void
    private var folder: OwnedDescriptor?
    private var file: OwnedDescriptor?
    private var watch: FolderWatch?
    private var retry: Timer?
    private var tries = 0
    private var epoch: EpochFile?
    /// What was said last and still holds.
    private var said: String?

    /// Makes the folders and takes the locks; a kernel that is just ending gets half a second.
    /// - Parameter tell: is told what befalls the folder later.
    /// - Throws: `ManifestError` naming the folder.
    init(
        _ folders: InstanceFolders, tell: @escaping @LoopActor (String) -> Void
    ) throws(ManifestError) {
        self.folders = folders
        self.tell = tell
        try folders.make()
        try take(tries: SocketLimits.lockTries)
        do throws(SocketError) {
            watch = try FolderWatch(folders.data) { [weak self] in
                self?.tries = 0
                self?.look()
            }
        } catch {
            // It keeps others out all the same.
            tell("the folder of the data is not watched: \(error)")
        }
        look()
    }

    // MARK: - The locks

    /// - Parameter tries: how often, every 10 ms, what another holds is tried again.
    private func take(tries: Int) throws(ManifestError) {
        var left = tries
        while true {
            if try takeFolder(), try takeFile() { return }
            guard left > 0 else { throw isTaken }
            left -= 1
            usleep(10_000)
        }
    }

    /// A file system that does not lock folders leaves the file alone to do it.
    private func takeFolder() throws(ManifestError) -> Bool {
        if holdsFolder { return true }
        folder = nil
        let number = open(folders.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw unlockable(errno) }
        let fresh = OwnedDescriptor(owning: number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return false }
        folder = consume fresh
        return true
    }

    private func takeFile() throws(ManifestError) -> Bool {
        if holdsFile { return true }
        file = nil
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let number = open(folders.lock, flags, 0o600)
        guard number >= 0 else { throw unlockable(errno) }
        let fresh = OwnedDescriptor(owning: number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK || errno == EINTR { return false }
            throw unlockable(errno)
        }
        // It may have been removed between the two calls.
        guard FilePlace(number) == FilePlace(folders.lock) else { return false }
        // For people, and for whoever is refused.
        let text = "\(getpid())\n"
        _ = ftruncate(number, 0)
        _ = text.withCString { pwrite(number, $0, strlen($0), 0) }
        file = consume fresh
        return true
    }

    private var holdsFile: Bool {
        guard let number = file?.number else { return false }
        return FilePlace(number) == FilePlace(folders.lock)
    }

    private var holdsFolder: Bool {
        guard let number = folder?.number else { return false }
        return FilePlace(number) == FilePlace(folders.data, followsLinks: true)
    }

    private func unlockable(_ error: Int32) -> ManifestError {
        ManifestError(
            file: folders.data, what: "cannot be locked: \(SocketError.text(of: error))")
    }

    private var isTaken: ManifestError {
        let owner = SystemFile.text(folders.lock).flatMap { Int32($0.prefix { $0 != "\n" }) }
        let who = owner.map { " (process \($0))" } ?? ""
        return ManifestError(
            file: folders.data,
            what: "another kernel\(who) keeps its data here: stop it, or say --data with another "
                + "folder")
    }

    // MARK: - Upkeep

    /// From now on the number of this start is put back, too.
    func keep(_ epoch: EpochFile) {
        self.epoch = epoch
    }

    /// Compares what stands at the paths with what this process holds.
    private func look() {
        retry?.cancel()
        retry = nil
        for _ in 0..<SocketLimits.returnTries {
            // First the watch, so that nothing happens unseen after the look; what is gone is put
            // back without one, too.
            try? watch?.arm()
            do throws(ManifestError) {
                guard try mend() else {
                    say(epoch?.putBack())
                    return
                }
            } catch {
                say("the data is not this kernel's alone any more: \(error)")
                return again()
            }
        }
        again()
    }

    /// Makes anew what is gone.
    /// - Returns: whether something was.
    private func mend() throws(ManifestError) -> Bool {
        let hadFolder = holdsFolder
        let hadFile = holdsFile
        if hadFolder, hadFile, ManifestSearch.isDirectory(folders.logs) { return false }
        try folders.make()
        try take(tries: 0)
        epoch?.isHopeless = false
        if !hadFolder {
            tell(
                "the folder of the data was removed and is made anew: \(folders.data); what a "
                    + "device kept there is gone, and what it still has open is lost: "
                    + "`concentric restart` each that keeps data")
        } else if !hadFile {
            tell(
                "the lock of the data was removed and stands again: \(folders.lock); if data were "
                    + "removed with it, `concentric restart` each device that keeps some")
        }
        return true
    }

    /// Says what is not as it should be, once as long as it holds.
    private func say(_ line: String?) {
        defer { said = line }
        if let line, line != said { tell(line) }
    }

    private func again() {
        guard tries < SocketLimits.returnTries else { return }
        let pause = SocketLimits.returnPause << UInt64(tries)
        tries += 1
        retry = EventLoop.shared.schedule(at: EventLoop.shared.now + pause) {
            [weak self] in self?.look()
        }
    }
}

extension InstanceFolders {
    /// Makes the folders of the data and of the logs, readable by their owner alone.
    /// - Throws: `ManifestError` naming the folder and the system's reason.
    func make() throws(ManifestError) {
        for folder in [data, logs] {
            var path = ""
            for part in folder.split(separator: "/") {
                path += "/\(part)"
                guard mkdir(path, 0o700) != 0 else { continue }
                // A folder that is there already may be refused otherwise than by EEXIST.
                let error = errno
                if ManifestSearch.isDirectory(path) { continue }
                throw ManifestError(
                    file: path, what: "cannot be made: \(SocketError.text(of: error))")
            }
            guard access(folder, W_OK) == 0 else {
                throw ManifestError(
                    file: folder, what: "cannot be written: \(SocketError.text(of: errno))")
            }
        }
    }
}
