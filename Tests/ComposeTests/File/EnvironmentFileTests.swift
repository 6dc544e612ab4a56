import Testing

@testable import Compose

@Suite("Env files")
struct EnvironmentFileTests {
    private func read(
        _ text: String, format: EnvironmentFile.Format = .standard, findings: ComposeFindings = ComposeFindings()
    ) -> [String: String?] {
        EnvironmentFile(name: "e.env", findings: findings).variables(
            in: text, format: format, environment: ComposeEnvironment(["OTHER": "other", "PASSED": "p"]))
    }

    @Test(
        "Each line of the specification is read",
        arguments: [
            ("V=val", "val"), ("V=\"val\"", "val"), ("V='val'", "val"), ("V=", ""), ("  V = val  ", "val"),
            ("export V=val", "val"), ("V=val # comment", "val"), ("V=val# no comment", "val# no comment"),
            ("V=\"val # no comment\"", "val # no comment"), ("V=\"val\" # comment", "val"), ("V= # comment", ""),
            ("V=#ff0000", "#ff0000"), ("V = #ff0000", ""),
            ("V='$OTHER'", "$OTHER"), ("V='${OTHER}'", "${OTHER}"), ("V=$OTHER", "other"),
            ("V=\"a ${OTHER}\"", "a other"),
            ("V='Let\\'s go!'", "Let's go!"), (#"V="{\"hello\": \"json\"}""#, #"{"hello": "json"}"#),
            (#"V="some\tvalue""#, "some\tvalue"), (#"V='some\tvalue'"#, #"some\tvalue"#),
            (#"V=some\tvalue"#, #"some\tvalue"#), (#"V="\$OTHER \\ \d""#, #"$OTHER \ \d"#),
            ("V=\"two\nlines\"", "two\nlines"), ("# first\n\nV=a=b\r\n", "a=b"), ("A=1\nV=${A}2", "12"),
            ("\u{FEFF}V=val", "val"), ("V=\u{301}x", "\u{301}x"), ("V='\u{301}x'", "\u{301}x"),
            ("V=\"a\" #\u{301}x", "a"), ("V=a #\u{301}x\r\nW=1", "a"), ("V=${NONE:-d}", "d"), ("V=1\nV=2", "2"),
            ("a.b-c=1\nV=x", "x"), ("export\tV=1", "1"), ("export  \t V=1", "1"), ("export=2\nV=$export", "2"),
            ("V=a\u{A0}", "a\u{A0}"), (#"V='a\\'"#, #"a\\"#), (#"V="a\\""#, #"a\"#), (#"V='a\\\'b'"#, #"a\\'b"#),
        ]
    )
    func line(text: String, expected: String) {
        let findings = ComposeFindings()
        #expect(read(text, findings: findings)["V"] == expected)
        #expect(throws: Never.self) { try findings.throwMistakes() }
    }

    @Test("The time for each line does not grow with their number", .timeLimit(.minutes(1)))
    func many() {
        let text = (0..<20_000).map { "V\($0)=\($0)" }.joined(separator: "\n") + "\nV0=$V1$V19999\nOTHER=own\nV1=$OTHER"
        let variables = read(text)
        #expect(variables.count == 20_001)
        #expect(variables["V0"] == "119999" && variables["V1"] == "other", "what the outside says wins")
    }

    @Test("A name without a value is passed on if it is set, and is otherwise missing")
    func passed() {
        let variables = read("PASSED\nV")
        #expect(variables["PASSED"] == "p")
        #expect(variables["V"] == .some(nil))
    }

    @Test("A raw env file keeps its values unchanged")
    func raw() {
        let variables = read("#c\nV=\"$OTHER\" # x\n\nPASSED", format: .raw)
        #expect(variables == ["V": "\"$OTHER\" # x", "PASSED": "p"])
    }

    @Test("All mistakes are reported with their lines, and without the values")
    func mistakes() throws {
        let findings = ComposeFindings()
        _ = read("1SECRET=x\nA=$\nB SECRET\nC=\"SECRET\"SECRET\nD=ok\nE=\"SECRET\n", findings: findings)
        let error = try #require(throws: ComposeFileError.self) { try findings.throwMistakes() }
        #expect(
            error.mistakes.map(\.description) == [
                "e.env:1: the line does not begin with a variable's name; write lines as KEY=value",
                "e.env:2: 'A': a lone '$' is not a variable reference (write '$$' for a dollar sign); "
                    + "in single quotes dollar signs are literal",
                "e.env:3: unexpected text after the name; write lines as KEY=value",
                "e.env:4: unexpected text after the closing quote; write lines as KEY=value",
                "e.env:6: a quote that begins here is not closed; write lines as KEY=value",
            ])
    }
}
