import Compose
import Foundation
import Support
import TestSupport
import Testing

/// Each test writes texts and compares them with what a reader of the format reads.
@Suite(
    "Escapes of text from outside",
    .enabled(if: FormatReaders.areInstalled, "scripts/python, which make test runs, installs the readers"))
struct EscapeTests {
    /// Characters that end a literal in one of the formats, or that begin something else.
    private static let special = [
        "'", "\"", "\\", "`", "$", "%", "#", "&", "<", ">", "{", "}", "[", "]", "(", ")", "!", "|", ";", ":", ",", "=",
        "~",
        "*", "?", "-", "/", "@", " ", "\n", "\r", "\r\n", "\t", "n", "&lt;", "#quot;", "\\n", "$(", "${A}", "$'", "''",
        ": ", " #",
    ]
    /// Texts that make one Character of what precedes them, or of which Swift says that they equal a syntax character.
    private static let joining = [
        "\u{301}", "\u{FE0F}", "\u{200D}", "\u{338}", "\u{37E}", "\u{1FEF}", "\u{212A}", "é", "🎶",
    ]
    private static let controls = ["\u{1}", "\u{1B}[201~", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}"]

    /// Each special text alone and with a combining mark after it, and random sequences.
    private static func texts(_ pieces: [String] = special + joining + controls, count: Int = 200) -> [String] {
        var generator = SeededGenerator(seed: 12)
        let random = (0..<count).map { _ in
            (0..<Int.random(in: 1...8, using: &generator)).map { _ in
                generator.chance(1, in: 3)
                    ? joining.filter(pieces.contains).randomElement(using: &generator) ?? "a"
                    : pieces.randomElement(using: &generator) ?? "a"
            }.joined()
        }
        return [""] + pieces.flatMap { [$0, $0 + "\u{301}", "a\($0)b"] } + random
    }

    private func expect(_ format: String, _ documents: [String], read expected: [[String]]) async throws {
        guard let read = try await FormatReaders.read(format, documents) else { return }
        #expect(read.count == expected.count)
        for (document, (found, texts)) in zip(documents, zip(read, expected)) {
            let wrong = zip(found, texts).filter { !$0.utf8.elementsEqual($1.utf8) }
            #expect(
                found.count == texts.count && wrong.isEmpty,
                "\(document.debugDescription.prefix(200)): \(wrong.prefix(3).debugDescription)")
        }
    }

    @Test("A shell reads a word unchanged")
    func shellWord() async throws {
        let texts = Self.texts()
        let line = texts.map(Escape.shellWord).joined(separator: " ")
        try await expect("bash", [line], read: [texts])
        try await expect("zsh", [line], read: [texts])
        #expect(Escape.shellWord("a/b.C_1") == "a/b.C_1")
        #expect(Escape.shellWord("it's") == #"'it'\''s'"#)
        #expect(!texts.map(Escape.shellWord).joined().utf8.contains { $0 < 0x20 || $0 == 0x7F })
    }

    @Test("Bash reads a completion unchanged")
    func completions() async throws {
        // The end of a line would be a word's end.
        let texts = Self.texts(Self.special.filter { !$0.utf8.contains(0xA) } + Self.joining).filter { !$0.isEmpty }
        try await expect("bash", [texts.map(Escape.bashCompletion).joined(separator: " ")], read: [texts])
    }

    @Test("Zsh inserts a completion so that it reads the completion unchanged")
    func zshCompletions() async throws {
        // Completions are lines of the program's output.
        let texts = Self.texts(Self.special.filter { !$0.utf8.contains(0xA) } + Self.joining + Self.controls)
            .filter { !$0.isEmpty }
        try await expect("completion", [texts.map(Escape.zshCompletion).joined(separator: "\n")], read: [texts])
        #expect(Escape.zshCompletion(#"a:\#u{301}b\"#) == #"a\:\#u{301}b\\"#)
    }

    @Test("A page contains a text and the value of an attribute unchanged")
    func html() async throws {
        let texts = Self.texts().filter { !$0.isEmpty }
        let documents = texts.map {
            "<b title=\"\(Escape.html($0))\">\(Escape.html($0))</b><i title='\(Escape.html($0))'>"
        }
        try await expect("page", documents, read: texts.map { ["b", $0, $0, "i", $0] })
    }

    @Test("A table contains a cell unchanged")
    func csv() async throws {
        let texts = Self.texts()
        try await expect(
            "table", texts.map { Escape.csvLine([$0, "x", $0]) + "\n" }, read: texts.map { [$0, "x", $0] })
        try await expect("table", texts.map { Escape.csvLine([$0]) + "\n" }, read: texts.map { [$0] })
    }

    @Test("Prometheus reads a label unchanged")
    func metricLabel() async throws {
        let texts = Self.texts(count: 20)
        try await expect(
            "metric",
            texts.map { "# HELP segue_x X.\n# TYPE segue_x gauge\nsegue_x{name=\(Escape.metricLabel($0))} 1\n" },
            read: texts.map { [$0] })
    }

    @Test("nats-server reads a string unchanged")
    func natsString() async throws {
        struct Users: Encodable {
            let strings: [String]
            let names: [String]
        }
        var seen = Set<[UInt8]>()
        let texts = Self.texts().filter { !$0.isEmpty && seen.insert(Array($0.utf8)).inserted }
        let users = Users(strings: texts.map(Escape.natsString), names: texts + ["stranger"])
        let document = String(decoding: try JSONEncoder().encode(users), as: UTF8.self)
        try await expect("nats", [document], read: [texts])
    }

    @Test("Graphviz draws lines unchanged")
    func dotString() async throws {
        let texts = Self.texts(Self.special.filter { $0.utf8.allSatisfy { $0 >= 0x20 } } + Self.joining, count: 40)
        try await expect(
            "drawing", texts.map { "digraph { a [label=\(Escape.dotString(["x" + $0, "y" + $0]))] }" },
            read: texts.map { ["x" + $0, "y" + $0] })
        #expect(Escape.dotString(["a\r\n\u{301}b"]) == "\"a  \u{301}b\"")
    }

    @Test("A reader of Mermaid's entities reads lines unchanged")
    func mermaidString() async throws {
        let texts = Self.texts(Self.special.filter { $0.utf8.allSatisfy { $0 >= 0x20 } } + Self.joining)
        try await expect(
            "mermaid", texts.map { Escape.mermaidString(["x" + $0, $0]) }, read: texts.map { ["x" + $0, $0] })
    }

    @Test("A reader of YAML reads a string unchanged")
    func yaml() async throws {
        let texts =
            Self.texts() + ["true", "~", "1", "1e3", ":\u{301}", "a: \u{301}b", "a #\u{301}", "-\u{301}", "'\u{301}"]
        // In YAML 1.1, which some readers follow, these plain texts are not strings. Segue's reader follows 1.2.
        try await expect(
            "yaml", texts.map { "key: \(YAMLScalar.text(of: .string($0)))\n" }, read: texts.map { [$0] })
        try await expect(
            "yaml", texts.map { "\"key\": \(YAMLScalar.text(of: .string($0))) # comment\n" }, read: texts.map { [$0] })
    }

    @Test("A shell reads a line of an environment file unchanged")
    func environmentFile() async throws {
        let texts = Self.texts(count: 40)
        try await expect("environment", texts.map { SystemdText.assignment("V", $0) + "\n" }, read: texts.map { [$0] })
    }

    @Test("systemd reads the words of a command and of a variable unchanged")
    func unit() async throws {
        let texts = Self.texts(Self.special + ["%n", "%%"] + Self.joining + Self.controls)
        let arguments = texts.map(SystemdText.argument).joined(separator: " ")
        // Of two variables with one name, systemd takes the last one.
        let variables = texts.enumerated().map { "Environment=\(SystemdText.word("V\($0)=\($1)"))\n" }.joined()
        try await expect(
            "unit", ["[Service]\nType=oneshot\nExecStart=/bin/true \(arguments)\n\(variables)"],
            read: [texts + texts])
    }

    @Test("The readers of compose files read a value unchanged")
    func composeValue() async throws {
        let texts = Self.texts()
        let values = texts.map { YAMLScalar.text(of: .string(Escape.composeValue($0))) }
        try await expect("compose", values.map { "key: \($0)\n" }, read: texts.map { [$0] })
        let file = try ComposeFile(
            text: "services:\n  a:\n    command:\n    - sh\n" + values.map { "    - \($0)\n" }.joined(),
            path: "c.yaml", directory: "/", environment: ["A": "secret"])
        let read = file.stack.services.flatMap(\.command).dropFirst()
        #expect(read.elementsEqual(texts) { $0.utf8.elementsEqual($1.utf8) })
    }

    @Test("A segment of a URL is decoded unchanged")
    func percentEncoding() {
        for text in Self.texts() {
            let encoded = PercentEncoding.encode(text)
            #expect(encoded.removingPercentEncoding.map { Array($0.utf8) } == Array(text.utf8))
            #expect(PercentEncoding.decode(Array(encoded.utf8)[...]).map { Array($0.utf8) } == Array(text.utf8))
            #expect(!encoded.utf8.contains { "/?#&=+ %'\"".utf8.contains($0) && $0 != UInt8(ascii: "%") })
        }
    }
}
