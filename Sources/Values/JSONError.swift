/// A text that is no JSON of a value.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in one phrase.
    public let reason: String
    /// The offset in bytes at which reading ended.
    public let offset: Int
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int

    init(_ reason: String, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.reason = reason
        self.offset = offset
        let before = text.prefix(offset)
        line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        column = 1 + before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count
    }

    /// One line for a person.
    public var description: String {
        "\(reason) (line \(line), column \(column))"
    }
}
