import Testing
import Yams

@testable import YAMLText

@Suite("YAML text")
struct YAMLTextTests {
    @Test(
        "YAML that cannot be read is one line with its place",
        arguments: [
            ("a: [b\nc: d\n", 2, "malformed YAML: "), ("a: 'b\n", 2, "malformed YAML: "),
            ("a: 1\nb:\n  c: 1\n  c: 2\n", 3, "duplicate key 'c' in the mapping that begins here; remove one of them"),
            ("a: &x b\n*x : c\n", 2, "a YAML alias cannot be a part of a key; write the key itself"),
            ("a: b\nc: \u{1}\n", 2, "malformed YAML: control characters are not allowed; remove the character"),
            (
                "# ää\r\n# 👩‍👩‍👧 ää\na: ü\u{1}", 3,
                "malformed YAML: control characters are not allowed; remove the character"
            ),
        ])
    func mistakes(text: String, line: Int, beginning: String) {
        let mistake = #expect(throws: YAMLMistake.self) { try YAMLText.root(of: text) }
        #expect(mistake?.line == line)
        #expect(mistake?.description.hasPrefix(beginning) == true, "\(String(describing: mistake))")
        #expect(mistake?.description.contains("\n") == false)
    }

    @Test("Empty YAML has no root, and other text has one")
    func roots() throws {
        #expect(try YAMLText.root(of: "# nothing\n") == nil)
        #expect(try YAMLText.root(of: "a: [b, c]")?["a"]?.sequence?.count == 2)
    }
}
