/// Why a `Codable` value could not be written or read, by every coder of the project.
public struct CodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: String, Sendable {
        /// Another kind of value stands there.
        case mismatch
        /// A key or element that the type wants is not there.
        case missing
        /// A number, date or length that the target cannot hold; a double that is not finite.
        case outOfRange
        /// The content is of the right kind, and the type refuses it.
        case refused
        /// More than ``Value/depthLimit`` arrays and maps inside each other.
        case tooDeep
        /// The bytes are not well-formed.
        case malformed
        /// The type's own coding breaks the rules of `Codable`.
        case misuse
    }

    /// The kind of failure, for a program to act upon.
    public let code: Code
    /// The keys and indices on the way to the place.
    public var path: [String]
    /// What would have been right, such as "text".
    public let expected: String
    /// What stood there, such as "integer"; empty where nothing did.
    public let found: String

    /// Makes an error of its parts.
    public init(_ code: Code, path: [String] = [], expected: String, found: String = "") {
        self.code = code
        self.path = path
        self.expected = expected
        self.found = found
    }

    /// The path as one text, `slides/3/photo`.
    public var location: String { path.joined(separator: "/") }

    /// One line for a person.
    public var description: String {
        let place = path.isEmpty ? "" : "\(location): "
        let end = found.isEmpty ? "" : ", found \(found)"
        return "\(place)expected \(expected)\(end)"
    }
}

extension CodingError {
    /// The error as it looks from one step further out. Paths are made while an error travels
    /// outward, so that coding that succeeds never keeps one. Errors of the application itself stay
    /// as they are.
    package static func within(
        _ prefix: [any CodingKey], _ key: (any CodingKey)?, _ error: any Error
    ) -> any Error {
        guard var known = translate(error) else { return error }
        let outer = prefix.map(\.token) + (key.map { [$0.token] } ?? [])
        known.path.insert(contentsOf: outer, at: 0)
        return known
    }

    /// The standard library's own errors in the words of this type.
    package static func translate(_ error: any Error) -> CodingError? {
        switch error {
        case let error as CodingError:
            return error
        case DecodingError.typeMismatch(let type, let context),
            DecodingError.valueNotFound(let type, let context):
            return CodingError(
                .mismatch, path: context.tokens, expected: "\(type)",
                found: context.debugDescription)
        case DecodingError.keyNotFound(let key, let context):
            return CodingError(
                .missing, path: context.tokens + [key.token], expected: "a value")
        case DecodingError.dataCorrupted(let context):
            return CodingError(
                .refused, path: context.tokens, expected: "a valid value",
                found: context.debugDescription)
        case EncodingError.invalidValue(_, let context):
            return CodingError(
                .refused, path: context.codingPath.map(\.token), expected: "a valid value",
                found: context.debugDescription)
        default:
            return nil
        }
    }
}

extension CodingKey {
    fileprivate var token: String { intValue.map(String.init) ?? stringValue }
}

extension DecodingError.Context {
    fileprivate var tokens: [String] { codingPath.map(\.token) }
}

/// The key of an element, that of a member whose name no type knows, and that of a superclass.
package enum CoderKey: CodingKey {
    case index(Int)
    case member(String)
    case superclass

    package init?(stringValue: String) { nil }
    package init?(intValue: Int) { self = .index(intValue) }

    package var stringValue: String {
        switch self {
        case .index(let index): "\(index)"
        case .member(let name): name
        case .superclass: "super"
        }
    }

    package var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }
}
