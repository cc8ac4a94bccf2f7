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
        ([String: [Bool]].self, "{*: [bool]}"), (UUID.self, "uuid"), (Date.self, "date"),
        (Photo.self, "{path: text, size: int?, tags: [text]}"),
        (Listed.self, "text"), (Pace.self, "text"), (Wrapped.self, "int"),
        (
            Album.self,
            "{at: date, cover: {path: text, size: int?, tags: [text]}, id: uuid, "
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

    @Test(arguments: [
        ("{at: date, id: uuid?}", "{at: number, id: text?}", true), ("[text]", "[uuid]", true),
        ("date", "uuid", false), ("{date: int}", "{number: int}", false),
        ("{at: date}", "{at: text}", false),
    ])
    func `dates and identifiers fit what a build takes for numbers and texts`(
        _ actual: String, _ expected: String, _ fits: Bool
    ) {
        #expect(Shape.fits(actual, expected) == fits)
        #expect(Shape.fits(expected, actual) == fits)
    }

    private static let readings: [(actual: String, expected: String, isRead: Bool)] = [
        ("int", "int", true), ("int", "text", false), ("int", "number", false), ("", "int", true),
        ("int", "", true), ("_", "text", true), ("[int]", "[int]", true),
        ("[int]", "[text]", false), ("[int]", "int", false), ("int", "int?", true),
        ("int?", "int", false), ("int?", "int?", true), ("text?", "int?", false),
        ("{a: int, b: text}", "{b: text}", true), ("{a: int}", "{a: int, b: text}", false),
        ("{a: int}", "{a: int, b: text?}", true), ("{a: int}", "{a: text}", false),
        ("{a: int, _}", "{b: text}", true), ("{a: int}", "{a: int, _}", true),
        ("{a: {b: [{c: int?}]}}", "{a: {b: [{c: int?}]}}", true),
        ("{a: {b: [{c: int}], d: bool}}", "{a: {b: [{c: int?}]}}", true),
        ("{a: {b: [{c: int}]}}", "{a: {b: [{c: text}]}}", false),
        ("{*: int}", "{*: int}", true), ("{*: int}", "{*: text}", false),
        ("{a: int, b: int}", "{*: int}", true), ("{a: int, b: text}", "{*: int}", false),
        ("{*: int}", "{a: int}", true), ("{*: int}", "{a: text}", false),
        ("(int, text)", "(int, text)", true), ("(int, text)", "(text, int)", false),
        ("(int)", "(int, text)", false), ("(int, _)", "(int, text)", true),
        ("[int]", "(int, int)", true), ("(int, int)", "[int]", true),
        ("(int, text)", "[int]", false), ("()", "()", true), ("()", "int", false),
        ("int", "{a: int}", false), ("{", "int", true), ("{a", "{a: int}", true),
        ("[int", "text", true), ("<new>", "text", true),
        (String(repeating: "[", count: 500), "int", true),
        ("{at: date, id: uuid}", "{at: number, id: text}", true),
        ("{at: number, id: text}", "{at: date, id: uuid?}", true),
        ("date", "uuid", false), ("date", "int", false), ("[uuid]", "[int]", false),
    ]

    @Test(arguments: 0..<readings.count)
    func `a shape is read as another that knows no more of it`(_ row: Int) {
        let (actual, expected, isRead) = Self.readings[row]
        #expect(Shape.reads(actual, as: expected) == isRead, "\(actual) as \(expected)")
    }

    @Test func `each shape is read as itself`() {
        for (_, shape) in Self.shapes { #expect(Shape.reads(shape, as: shape), "\(shape)") }
    }

    @Test func `what is not known fits everything`() {
        #expect(Shape.fits(Shape.of(Sealed.self), "text"))
        #expect(Shape.fits("int", "_"))
    }
}
