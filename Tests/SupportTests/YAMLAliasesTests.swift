import Support
import Testing

@Suite("Aliases in keys of a YAML file")
struct YAMLAliasesTests {
    @Test(
        "The line of an alias in a key is found before the file is parsed",
        arguments: [
            ("a: &x 1\n*x : 2\n", 2), ("a: &x [1]\n? *x\n: 2\n", 2), ("a: &x 1\nb: {*x : 2}\n", 2),
            ("a: &x 1\n\nb: {[*x, *x]: 2}\n", 3), ("a: &x 1\n? [*x]\n: 2", 2), ("a: &x 1\nb: *x\n", nil),
            ("a: &x 1\nb: [*x, *x]\n", nil), ("a: '*x : 2'\n", nil), ("a: \"\\\"*x : 2\"\n", nil),
            ("# *x : 2\na: 1\n", nil),
            ("a: 5 * 3\n", nil), ("a: it's *x\nb: 1", nil), ("{[1]: 2}\n", nil), ("a: &x 1\n<<: *x\n", nil),
            ("a: really?\nb: &x 1\nc: *x", nil), ("*x", nil), ("", nil),
        ] as [(String, Int?)])
    func keys(yaml: String, line: Int?) {
        #expect(YAMLAliases.lineOfKey(in: yaml) == line)
    }
}
