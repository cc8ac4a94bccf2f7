/// The image files that a slideshow shows, known by the extension of their names.
public enum PhotoFormat: String, Codable, Sendable, CaseIterable {
    case jpg
    case jpeg
    case png
    case gif
    case webp
    case tiff
    case heic

    /// The format of a file's name or path: what follows the last dot, in either case. A name that
    /// is only an extension, such as `.png`, is a hidden file and no photo.
    public init?(path: String) {
        let format = path.utf8.withContiguousStorageIfAvailable { Self(nameBytes: $0) }
        guard let format = format ?? Array(path.utf8).withUnsafeBufferPointer(Self.init(nameBytes:))
        else { return nil }
        self = format
    }

    /// The same for the bytes of a name or path, as a folder lists them.
    public init?(nameBytes: UnsafeBufferPointer<UInt8>) {
        guard let dot = nameBytes.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            nameBytes[dot - 1] != UInt8(ascii: "/"), nameBytes.count - dot - 1 <= 4
        else { return nil }
        // Bit 5 makes a letter of ASCII lower case.
        let ending = nameBytes[(dot + 1)...].map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        self.init(rawValue: String(decoding: ending, as: UTF8.self))
    }
}
