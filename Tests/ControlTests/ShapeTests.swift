import Control
import FoundationEssentials
import Testing

/// The structure of types, by which builds and ends of pipes are compared.
@Suite struct ShapeTests {
    private struct Photo: Codable {
        var path: String
        var size: Int64?
        var tags: [String]
    }
    private struct Renamed: Codable {
        var path: String
        var size: Int?
        var tags: Set<String>
    }
    private enum Pace: String, Codable { case slow, fast }
    private enum Listed: String, Codable, CaseIterable { case slow, fast }
    private struct Album: Codable {
        var cover: Photo
        var pages: [[Photo]]
        var index: [String: Int]
        var id: UUID
        var at: Date
        var pace: Listed
        var isOpen: Bool
    }
    private struct Sealed: Codable {
        var pace: Pace
        var name: String
    }
    private struct Tree: Codable {
        var name: String
        var children: [Tree]
    }
    private struct Wrapped: Codable, RawRepresentable { var rawValue: Int }

    private static let shapes: [(type: any (Decodable & SendableMetatype).Type, shape: String)] = [
        (Int.self, "int"), (UInt8.self, "int"), (Double.self, "number"), (String.self, "text"),
        (Bool.self, "bool"), ([Int].self, "[int]"), (Int?.self, "int?"),
        ([String: [Bool]].self, "{*: [bool]}"), (UUID.self, "text"), (Date.self, "number"),
        (Photo.self, "{path: text, size: int?, tags: [text]}"),
        (Listed.self, "text"), (Pace.self, "text"), (Wrapped.self, "int"),
        (
            Album.self,
            "{at: number, cover: {path: text, size: int?, tags: [text]}, id: text, "
                + "index: {*: int}, isOpen: bool, pace: text, "
                + "pages: [[{path: text, size: int?, tags: [text]}]]}"
        ),
        (Sealed.self, "{pace: text, _}"), (Tree.self, "{children: [_], name: text}"),
    ]

    @Test(arguments: 0..<shapes.count) func `a type has the shape of what it reads`(_ row: Int) {
        let (type, shape) = Self.shapes[row]
        #expect(Shape.of(type) == shape)
    }

    @Test func `names of types do not count`() {
        #expect(Shape.of(Photo.self) == Shape.of(Renamed.self))
        #expect(Shape.fits(Shape.of(Photo.self), Shape.of(Renamed.self)))
        #expect(!Shape.fits(Shape.of(Photo.self), Shape.of(Album.self)))
    }

    @Test func `what is not known fits everything`() {
        #expect(Shape.fits(Shape.of(Sealed.self), "text"))
        #expect(Shape.fits("int", "_"))
    }
}
