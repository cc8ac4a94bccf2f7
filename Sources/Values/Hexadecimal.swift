extension FixedWidthInteger where Self: UnsignedInteger {
    /// The number in as many hexadecimal figures as its type has room for.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
    }
}
