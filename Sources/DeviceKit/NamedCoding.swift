internal import Control
internal import Values
internal import Wire

// A value that does not fit its type is told with the place where it stands: which of many regions
// or symbols it was cannot be read from the error of a coder.

extension Region {
    /// The region of its value.
    /// - Throws: `malformed`; errors of the application's own stay as they are.
    static func decoded(_ value: Value) throws -> Self {
        do {
            return try ValueDecoder().decode(Self.self, from: value)
        } catch let error as CodingError {
            throw KernelError(.malformed, "the region \(region): \(error)")
        }
    }

    /// Its value.
    /// - Throws: `malformed`; errors of the application's own stay as they are.
    var encoded: Value {
        get throws {
            do {
                return try ValueEncoder().encode(self)
            } catch let error as CodingError {
                throw KernelError(.malformed, "the region \(Self.region): \(error)")
            }
        }
    }
}

extension Coder {
    /// What a symbol has given.
    /// - Throws: `malformed`; errors of the application's own stay as they are.
    func decode(output bytes: [UInt8], of name: String, _ coding: CBORCoding) throws -> T {
        do {
            return try decode(bytes, coding)
        } catch let error as CodingError {
            throw KernelError(.malformed, "the output of \(name): \(error)")
        }
    }
}
