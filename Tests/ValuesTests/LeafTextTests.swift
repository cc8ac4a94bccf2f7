import Testing
import Values

struct LeafTextTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (Value.dateRange.lowerBound, "0001-01-01T00:00:00.000Z"),
            (Value.dateRange.upperBound, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `a date has its text and comes back`(date: Int64, text: String) {
        #expect(DateText.print(date) == text)
        #expect(DateText.parse(text) == date)
    }

    @Test func `every day of four centuries comes back`() {
        let start = -2_208_988_800_000 as Int64
        for day in 0..<(146_097 as Int64) {
            let date = start + day * 86_400_000 + day % 86_400_000
            #expect(DateText.print(date).flatMap { DateText.parse($0) } == date)
        }
    }

    @Test(
        arguments: [
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T22:30:00-01:30", 0),
            ("1970-01-01t00:00:00z", 0), ("1970-01-01T00:00:00.5Z", 500),
            ("1970-01-01T00:00:00.1234Z", 123), ("1970-01-01T00:00:00.1235999Z", 124),
        ] as [(String, Int64)])
    func `other forms of RFC 3339 are read`(text: String, date: Int64) {
        #expect(DateText.parse(text) == date)
    }

    @Test(arguments: [
        "", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-02-29T00:00:00Z",
        "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:60Z",
        "1970-01-01T00:00:00.Z", "0000-01-01T00:00:00Z", "1970-01-01T00:00:00+1:00",
        "1970-01-01T00:00:00Zx", "1970-1-01T00:00:00Z0", "0001-01-01T00:00:00+01:00",
        "+970-01-01T00:00:00Z", "1970-01-01T00:00:00.12é",
    ])
    func `what is no date is refused`(text: String) {
        #expect(DateText.parse(text) == nil)
    }

    @Test func `dates outside of the years 1 to 9999 have no text`() {
        for date in [
            Int64.min, Value.dateRange.lowerBound - 1, Value.dateRange.upperBound + 1, .max,
        ] {
            #expect(DateText.print(date) == nil)
        }
    }

    @Test func `a UUID is read in any case and printed in lower case`() {
        let uuid = UUIDBytes("1B4E28BA-2fa1-11D2-883F-0016D3CCA427")
        #expect(uuid == UUIDBytes(high: 0x1B4E_28BA_2FA1_11D2, low: 0x883F_0016_D3CC_A427))
        #expect(uuid?.description == "1b4e28ba-2fa1-11d2-883f-0016d3cca427")
    }

    @Test(arguments: [
        "", "1b4e28ba2fa111d2883f0016d3cca427", "1b4e28ba-2fa1-11d2-883f-0016d3cca42",
        "1b4e28ba-2fa1-11d2-883f-0016d3cca4278", "1b4e28ba-2fa1-11d2-883f+0016d3cca427",
        "1b4e28bg-2fa1-11d2-883f-0016d3cca427", "1b4e28ba-2fa1-11d2-883f-0016d3cca4é",
    ])
    func `what is no UUID is refused`(text: String) {
        #expect(UUIDBytes(text) == nil)
    }
}
