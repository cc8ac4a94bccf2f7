import Contract
import Testing

@testable import Compute

struct SelectTests {
    @Test(arguments: [
        "/a.jpg", "/a.JPG", "/a.jpeg", "/a.png", "/a.gif", "/a.WebP", "/a.tiff", "/a.HEIC", "a.jpg",
        "/.hidden/a.jpg", "/a.b/c.png", "/x..png", "/.a.png", "/ü.gif",
    ])
    func `image files are kept`(path: String) {
        #expect(PhotoSelection.select(SelectPhotos(present: [], candidates: [path])) == [path])
    }

    @Test(arguments: [
        "", "/", ".", "/a", "/jpg", "/.jpg", ".png", "/a.jpg/", "/a.jpg.txt", "/a.tif", "/a.jp",
        "/a.jpgx", "/a.jpg ", "/a.", "/a.jpg/b", "/a.ｊｐｇ", "/a.\u{4A}pg\u{301}", "/a.mov",
    ])
    func `everything else is dropped`(path: String) {
        #expect(PhotoSelection.select(SelectPhotos(present: [], candidates: [path])) == [])
    }

    @Test func `what is there already and what stands twice is dropped`() {
        let chosen = PhotoSelection.select(
            SelectPhotos(
                present: ["/a.jpg", "/z.txt"],
                candidates: ["/b.jpg", "/a.jpg", "/b.jpg", "/A.jpg", "/z.txt"]))
        #expect(chosen == ["/A.jpg", "/b.jpg"])
    }

    @Test func `names that differ only in how an accent is written are two files`() {
        let composed = "/\u{E9}.jpg"
        let decomposed = "/e\u{301}.jpg"
        let chosen = PhotoSelection.select(
            SelectPhotos(present: [], candidates: [composed, decomposed]))
        #expect(chosen.count == 2)
        let rest = PhotoSelection.select(
            SelectPhotos(present: [composed], candidates: [composed, decomposed]))
        #expect(rest.map { Array($0.utf8) } == [Array(decomposed.utf8)])
    }

    /// Each row is in the order that a person expects.
    static let rows: [[String]] = [
        ["img1.png", "img2.png", "img10.png", "img100.png"],
        ["img.png", "img1.png", "imga.png"],
        ["IMG1.png", "img2.png", "IMG3.png"],
        ["A.png", "a.png", "B.png", "b.png"],
        ["img01.png", "img1.png", "img02.png", "img2.png"],
        ["a/2.png", "a/10.png", "a b/1.png", "a1/1.png", "b/1.png"],
        ["2024-1-9.png", "2024-1-10.png", "2024-11-1.png"],
        [
            "99999999999999999999998.png", "99999999999999999999999.png",
            "100000000000000000000000.png",
        ],
        ["Ä1.png", "ä2.png", "Ä10.png"],
        ["ж2.png", "Ж10.png", "日本1.png", "日本2.png", "😀1.png", "😀12.png"],
        ["0.png", "00.png.png", "1.png"],
    ]

    @Test(arguments: rows)
    func `names sort as a person would`(row: [String]) {
        for input in [row, row.reversed(), row.sorted(), Array(row.dropFirst(2) + row.prefix(2))] {
            let chosen = PhotoSelection.select(SelectPhotos(present: [], candidates: input))
            #expect(chosen == row)
        }
    }

    @Test func `the order is total`() {
        let names = Self.rows.flatMap { $0 }.map(NaturalOrder.init)
        for first in names {
            for second in names {
                let relations = [first < second, second < first, first == second]
                #expect(relations.count { $0 } == 1)
                for third in names where first < second && second < third {
                    #expect(first < third)
                }
            }
        }
    }
}
