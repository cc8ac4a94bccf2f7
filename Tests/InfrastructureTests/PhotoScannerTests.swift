import Contract
import FoundationEssentials
import Glibc
import Testing

@testable import Infrastructure

struct PhotoScannerTests {
    private let folder = TemporaryFolder()

    /// All pages of a scan; `between` runs before each page but the first.
    private func pages(_ paths: [String], between: () throws -> Void = {}) throws -> [PhotoPage] {
        var pages = [try PhotoScanner.scan(ScanPhotos(paths: paths))]
        while let cursor = pages.last?.cursor, pages.count < 1_000 {
            try between()
            pages.append(try PhotoScanner.scan(ScanPhotos(paths: paths, cursor: cursor)))
        }
        #expect(pages.allSatisfy { $0.photos.count <= PhotoScanner.pageSize })
        return pages
    }

    /// What a scan of paths in the folder finds, without the folder.
    private func found(_ names: String...) throws -> [String] {
        try pages(names.map { folder.path + "/" + $0 }).flatMap(\.photos).map {
            relative($0)
        }
    }

    /// By bytes: to text a slash is another character when an accent follows it.
    private func relative(_ path: String) -> String {
        String(Substring(path.utf8.dropFirst(folder.path.utf8.count + 1)))
    }

    @Test func `image files are found depth first in the order of bytes`() throws {
        for name in ["b.jpg", "B.png", "a/z.jpg", "a/b/c.gif", "a.jpg", "a-.heic", "c/x.WEBP"] {
            try folder.file(name)
        }
        #expect(
            try found("") == [
                "B.png", "a/b/c.gif", "a/z.jpg", "a-.heic", "a.jpg", "b.jpg", "c/x.WEBP",
            ])
    }

    @Test func `hidden entries, other files and empty folders are left out`() throws {
        for name in [".a.jpg", ".git/a.jpg", "a.txt", "a.tif", "jpg", "d/.b.png", "d/e/f.mov"] {
            try folder.file(name)
        }
        try folder.folder("empty.jpg")
        mkfifo(folder.path + "/pipe.jpg", 0o600)
        #expect(try found("") == [])
    }

    @Test func `a path may name a file, a hidden folder or a link`() throws {
        for name in ["d/a.jpg", ".h/b.jpg", "c.jpg", "c.txt", ".d.jpg"] { try folder.file(name) }
        folder.link("link", to: "d")
        folder.link("link.jpg", to: "c.jpg")
        #expect(
            try found("c.jpg", "c.txt", ".h", ".d.jpg", "link", "link.jpg")
                == ["c.jpg", ".h/b.jpg", ".d.jpg", "link/a.jpg", "link.jpg"])
    }

    @Test func `links to files are followed, to folders not, and circles end`() throws {
        try folder.file("d/a.jpg")
        folder.link("d/circle", to: "..")
        folder.link("d/self.jpg", to: "self.jpg")
        folder.link("d/file.jpg", to: "a.jpg")
        folder.link("d/folder.jpg", to: "..")
        folder.link("d/gone.jpg", to: "nowhere")
        #expect(try found("d") == ["d/a.jpg", "d/file.jpg"])
    }

    @Test func `paths that overlap give no file twice`() throws {
        for name in ["a/1.jpg", "a/b/2.jpg", "a/b/c/3.jpg", "a/.h/4.jpg", "a/5.jpg"] {
            try folder.file(name)
        }
        let paths = ["a/b/c/", "a", "a/./b", "a//b", "a/5.jpg", "a/.h", "a"]
        let all = try found(paths[0], paths[1], paths[2], paths[3], paths[4], paths[5], paths[6])
        #expect(
            all == ["a/b/c/3.jpg", "a/1.jpg", "a/b/2.jpg", "a/5.jpg", "a/.h/4.jpg"])
    }

    @Test func `names of any kind survive the cursor`() throws {
        let names = [
            "a b.jpg", "a:b.jpg", "'\"\\.jpg", "new\nline.jpg", "e\u{301}.jpg", "\u{E9}.jpg",
            "\u{301}/\u{301}x.jpg", "😀/0:d:.jpg", "~/x.jpg", "%2F.jpg",
        ]
        for name in names { try folder.file(name) }
        let root = folder.path
        var seen: [String] = []
        // Resume behind every single entry, as a page that ended there would.
        let all = try PhotoScanner.scan(ScanPhotos(paths: [root])).photos
        for (index, photo) in all.enumerated() {
            let relative = relative(photo)
            let rest = try PhotoScanner.scan(ScanPhotos(paths: [root], cursor: "0:f:\(relative)"))
            #expect(rest.photos == Array(all[(index + 1)...]))
            seen.append(relative)
        }
        #expect(Set(seen.map { Array($0.utf8) }) == Set(names.map { Array($0.utf8) }))
    }

    /// Makes a file, or a folder, whose name ends in a byte that is no text.
    private func unnamed(_ name: String, isFolder: Bool = false) {
        let end = isFolder ? [] : Array(".jpg".utf8)
        let bytes = Array((folder.path + "/" + name).utf8) + [0xFF] + end + [0]
        bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { path in
                guard let base = path.baseAddress else { return }
                if isFolder { mkdir(base, 0o700) } else { close(creat(base, 0o600)) }
            }
        }
    }

    /// Each is told once, wherever a page ends and however few names are kept.
    @Test(arguments: [1, 2, 3, 256], [1, 2, 1_024])
    func `names that are not UTF-8 are left out, counted, and stop nothing`(
        pageSize: Int, keptAtMost: Int
    ) throws {
        for name in ["b.jpg", "d/b.jpg", "d/e/x.jpg", "f.jpg"] { try folder.file(name) }
        for name in ["a", "c", "d/a", "d/c", "d/e/y", "z", "zz"] { unnamed(name) }
        unnamed("g", isFolder: true)
        unnamed(".hidden")
        var pages: [PhotoPage] = []
        repeat {
            pages.append(
                try PhotoScanner.scan(
                    ScanPhotos(paths: [folder.path], cursor: pages.last?.cursor),
                    pageSize: pageSize, keptAtMost: keptAtMost))
        } while pages.last?.cursor != nil && pages.count < 100
        let found = pages.flatMap(\.photos).map { relative($0) }
        #expect(found == ["b.jpg", "d/b.jpg", "d/e/x.jpg", "f.jpg"])
        let leftOut = pages.compactMap(\.leftOut)
        #expect(leftOut.reduce(0) { $0 + $1.count } == 8, "\(leftOut)")
        #expect(leftOut.first?.first == folder.path + "/a\u{FFFD}.jpg")
        #expect(leftOut.first?.error.message.hasPrefix(folder.path) == true)
    }

    @Test func `nothing that is left out is nothing to tell`() throws {
        try folder.file("b.jpg")
        #expect(try pages([folder.path]).compactMap(\.leftOut) == [])
    }

    @Test func `pages give every file once, in one order, however deep`() throws {
        var names: [String] = []
        for index in 0..<700 {
            names.append(
                index % 7 == 0 ? "\(index).jpg" : "d\(index % 13)/e\(index % 5)/\(index).png")
        }
        for name in names { try folder.file(name) }
        let pages = try pages([folder.path])
        let photos = pages.flatMap(\.photos)
        #expect(pages.map(\.photos.count) == [256, 256, 188])
        #expect(photos.count == names.count)
        #expect(Set(photos) == Set(names.map { folder.path + "/" + $0 }))
        #expect(try self.pages([folder.path]) == pages)
        let single = try self.pages(photos)
        #expect(single.flatMap(\.photos) == photos)
    }

    @Test(arguments: [
        (1, 1, 1), (1, 3, 2), (2, 1, 1), (5, 2, 3), (256, 1, 1), (3, 1_000, 2), (256, 1_000, 1),
    ])
    func `small pages and small steps end and find the same`(pageSize: Int, listed: Int, kept: Int)
        throws
    {
        for name in ["a/b/1.jpg", "a/b/2.jpg", "a/c/d/3.jpg", "a/4.jpg", "e/f/5.jpg", "g/x.txt"] {
            try folder.file(name)
        }
        for name in ["h/i/j/k", "h/i/l", "m", "n/.o"] { try folder.folder(name) }
        let paths = [
            folder.path, folder.path + "/a/c", folder.path + "/m", folder.path + "/g/x.txt",
        ]
        let whole = try PhotoScanner.scan(ScanPhotos(paths: paths)).photos
        #expect(whole.count == 5)
        var photos: [String] = []
        var cursor: String?
        var cursors: Set<String> = []
        repeat {
            let page = try PhotoScanner.scan(
                ScanPhotos(paths: paths, cursor: cursor), pageSize: pageSize, listedAtMost: listed,
                keptAtMost: kept)
            photos += page.photos
            cursor = page.cursor
            if let cursor, !cursors.insert(cursor).inserted {
                Issue.record("the cursor \(cursor) came twice")
                return
            }
        } while cursor != nil
        #expect(photos == whole)
    }

    @Test func `a large folder is given whole, whatever the order on the disk`() throws {
        let names = (0..<2_500).map { "\($0 &* 7_919 % 10_007).jpg" }
        for name in names { try folder.file(name, "") }
        let expected = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let photos = try pages([folder.path]).flatMap(\.photos)
        #expect(photos == expected.map { folder.path + "/" + $0 })
    }

    @Test func `a folder that vanishes between pages is skipped`() throws {
        for index in 100..<400 { try folder.file("a/b/\(index).jpg") }
        for name in ["a/c.jpg", "d/e.jpg", "z.jpg"] { try folder.file(name) }
        let pages = try pages([folder.path]) {
            try FileManager.default.removeItem(atPath: folder.path + "/a/b")
        }
        #expect(pages[0].photos.count == 256)
        #expect(
            pages.dropFirst().flatMap(\.photos)
                == ["a/c.jpg", "d/e.jpg", "z.jpg"].map { folder.path + "/" + $0 })
    }

    @Test func `a folder that becomes a link between pages is no way any more`() throws {
        for index in 100..<400 { try folder.file("a/b/\(index).jpg") }
        try folder.file("a/c.jpg")
        let pages = try pages([folder.path]) {
            rename(folder.path + "/a/b", folder.path + "/.moved")
            symlink("../.moved", folder.path + "/a/b")
        }
        #expect(pages.dropFirst().flatMap(\.photos) == [folder.path + "/a/c.jpg"])
    }

    @Test func `a cursor leads into no link`() throws {
        try folder.file("b/c/1.jpg")
        folder.link("a", to: "b")
        for cursor in ["0:d:a", "0:d:a/c", "0:f:a/c/0.jpg"] {
            let page = try PhotoScanner.scan(ScanPhotos(paths: [folder.path], cursor: cursor))
            #expect(page.photos == [folder.path + "/b/c/1.jpg"])
        }
    }

    @Test func `a path of the request that vanishes later is skipped`() throws {
        for index in 100..<400 { try folder.file("a/\(index).jpg") }
        try folder.file("b/1.jpg")
        try folder.file("c/2.jpg")
        let paths = ["a", "b", "c"].map { folder.path + "/" + $0 }
        let pages = try pages(paths) { rename(paths[1], folder.path + "/x") }
        #expect(pages.flatMap(\.photos).count == 301)
        #expect(pages.last?.photos.last == paths[2] + "/2.jpg")
    }

    @Test(arguments: ["", "a", "./a", "../a", "~/a", "~", "a/b.jpg", "/a\u{0}b"])
    func `a path that is not absolute is refused`(path: String) {
        let refusal = code { _ = try PhotoScanner.scan(ScanPhotos(paths: ["/tmp", path])) }
        #expect(refusal == ApplicationError.Code.invalidPath)
    }

    @Test func `a missing path is named before anything is given`() throws {
        try folder.file("a.jpg")
        let missing = folder.path + "/missing"
        for paths in [[missing], [folder.path, missing], [folder.path + "/a.jpg/x"]] {
            let error = #expect(throws: ApplicationError.self) {
                try PhotoScanner.scan(ScanPhotos(paths: paths))
            }
            #expect(error?.code == ApplicationError.Code.notFound)
            #expect(error?.message.contains(paths.last ?? "?") == true)
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may read every folder"))
    func `a folder that may not be read is named`() throws {
        try folder.file("a/b/c.jpg")
        let locked = folder.path + "/a/b"
        chmod(locked, 0)
        defer { chmod(locked, 0o700) }
        for path in [folder.path, locked] {
            let error = #expect(throws: ApplicationError.self) {
                try PhotoScanner.scan(ScanPhotos(paths: [path]))
            }
            #expect(error?.code == ApplicationError.Code.unreadable)
            #expect(error?.message.contains(locked) == true)
        }
    }

    @Test func `a path that is too long is named and never skipped in silence`() {
        let path = "/" + String(repeating: "x", count: 300)
        #expect(
            code { _ = try PhotoScanner.scan(ScanPhotos(paths: [path])) }
                == ApplicationError.Code.unreadable)
    }

    @Test(arguments: [
        (EACCES, false), (EIO, false), (EMFILE, true), (ENFILE, true), (ENOMEM, true),
    ])
    func `an unreadable path says whether that passes`(code: Int32, retry: Bool) {
        let error = ApplicationError.unreadable("/a/b", code)
        #expect(error.code == ApplicationError.Code.unreadable)
        #expect(error.message.contains("/a/b"))
        #expect(error.retry == retry)
    }

    @Test(arguments: [
        "", "x", "0", "0:f", "0:x:a", "1:f:a", "-1:f:a", "0:f:../a", "0:f:a/../b", "0:d:.",
        "0:f:/a", "0:f:a/", "0:f:a//b", "99999999999999999999:f:a", "0:f:a\u{0}b",
    ])
    func `a cursor of no scan is refused`(cursor: String) {
        let refusal = code {
            _ = try PhotoScanner.scan(ScanPhotos(paths: [folder.path], cursor: cursor))
        }
        #expect(refusal == ApplicationError.Code.invalidCursor)
    }

    @Test func `no paths give an empty last page`() throws {
        #expect(try PhotoScanner.scan(ScanPhotos(paths: [])) == PhotoPage(photos: [], cursor: nil))
    }
}
