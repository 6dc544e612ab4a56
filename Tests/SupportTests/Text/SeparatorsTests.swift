import Support
import Testing

@Suite("Separators in text from outside")
struct SeparatorsTests {
    private func scalars(_ text: some StringProtocol) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

    @Test("A separator with a combining mark after it separates")
    func combiningMarks() throws {
        #expect("a,\u{301}b".split(scalar: ",").map(scalars) == [["a"], ["\u{301}", "b"]])
        #expect(" a \u{301}b\r\n\u{301}c ".words.map(scalars) == [["a"], ["\u{301}", "b"], ["\u{301}", "c"]])
        let (before, after) = try #require("a=\u{301}b=c".cut(at: "="))
        #expect(scalars(before) == ["a"] && scalars(after) == ["\u{301}", "b", "=", "c"])
        let (start, end) = try #require("a=b=\u{301}c".cut(atLast: "="))
        #expect(scalars(start) == ["a", "=", "b"] && scalars(end) == ["\u{301}", "c"])
        #expect(scalars("(\u{301}".removing(prefix: "(") ?? "") == ["\u{301}"])
        #expect(scalars("\u{301})\u{308}".removing(suffix: "\u{308}") ?? "") == ["\u{301}", ")"])
        #expect("http://\u{301}".begins(with: "http://") && "a\u{301}".ends(with: "\u{301}"))
        #expect("*\u{301}".contains(scalarOf: "?*"))
        #expect(scalars("$\u{301}".replacing(scalars: "$", with: "$$")) == ["$", "$", "\u{301}"])
    }

    @Test("A character that is canonically equivalent to a separator does not separate")
    func equivalents() {
        #expect("a\u{37E}b".split(scalar: ";").count == 1)
        #expect("a\u{1FEF}b".cut(at: "`") == nil)
        #expect(!"\u{37E}".contains(scalarOf: ";"))
        #expect("\u{1FEF}a".removing(prefix: "`") == nil)
        #expect(!"\u{212A}a".begins(with: "K") && !"a\u{37E}".ends(with: ";"))
        #expect("a\u{37E}".removing(suffix: ";") == nil)
    }

    @Test("A prefix or suffix that is longer than the text does not match")
    func ends() {
        #expect("ab".begins(with: "") && "ab".ends(with: "") && "ab".begins(with: "ab") && "ab".ends(with: "ab"))
        #expect(!"b".begins(with: "bc") && !"b".ends(with: "ab"))
        #expect("ab"[...].removing(suffix: "b") == "a" && "ab".removing(prefix: "ab") == "")
    }

    @Test("A regular expression matches scalars")
    func regularExpressions() {
        #expect("('\u{301}/a".contains(#/'.\/a/#.byScalar) && "=\u{301}".firstMatch(of: #/=/#.byScalar) != nil)
        #expect("\u{212A}".wholeMatch(of: #/[A-Z]/#.byScalar) == nil)
        #expect("\r\n    a\r\n".wholeMatch(of: #/\R    a\R/#.byScalar) != nil)
    }

    @Test("Parts equal those of Collection.split")
    func parts() {
        #expect(",a,,b,".split(scalar: ",") == ["a", "b"])
        #expect(",a,,b,".split(scalar: ",", omittingEmptySubsequences: false) == ["", "a", "", "b", ""])
        #expect("a,b,c".split(scalar: ",", maxSplits: 1) == ["a", "b,c"])
    }

    @Test("Trimmed text has no blanks at its ends")
    func trimmed() {
        #expect(" \t a b\r\n".trimmed == "a b")
        #expect(" \r\n".trimmed.isEmpty && " \r\n\u{A0}".isBlank && !" a".isBlank)
        #expect(scalars(" \u{301}a".trimmed) == ["\u{301}", "a"])
    }
}
