import Contract
import FoundationEssentials
import Glibc

@testable import Infrastructure

/// A folder that lives as long as the value that names it.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/infrastructure-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nowhere"
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes a file, and the folders above it.
    func file(_ name: String, _ text: String = "x") throws {
        let file = path + "/" + name
        if let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) {
            try folder(String(name[..<slash]))
        }
        try Data(text.utf8).write(to: URL(filePath: file))
    }

    func folder(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path + "/" + name, withIntermediateDirectories: true)
    }

    func link(_ name: String, to target: String) {
        symlink(target, path + "/" + name)
    }
}

/// A fixed id: the last byte is the argument.
func id(_ number: UInt8) -> UUID {
    UUID(uuid: (0xAA, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
}

func slideshow(_ number: UInt8, name: String = "Summer", slides: Int = 3, at seconds: Double = 1)
    -> Slideshow
{
    Slideshow(
        id: id(number), name: name,
        slides: (0..<slides).map { index in
            Slide(
                id: UUID(
                    uuid: (
                        UInt8(index >> 8 & 0xFF), UInt8(index & 0xFF), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0, 0, 0, 1
                    )), photo: "/p/\(index).jpg", order: index, duration: .ten,
                title: index == 1 ? "Beach" : nil)
        }, config: Config(), createdAt: Date(timeIntervalSince1970: seconds))
}

/// Runs the body and gives the code of the application's error that it throws.
func code(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let error as ApplicationError {
        return error.code
    } catch {
        return "another error: \(error)"
    }
}

/// Runs the body and gives the database's error that it throws.
func databaseError(_ body: () throws -> Void) -> DatabaseError? {
    do {
        try body()
        return nil
    } catch {
        return error as? DatabaseError
    }
}
