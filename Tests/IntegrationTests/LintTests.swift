import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Checks of 'make lint'")
struct LintTests {
    @Test("The repository keeps the rules of each script, and each script has examples here")
    func repository() async throws {
        let makefile = try String(contentsOfFile: Repository.path("Makefile"), encoding: .utf8)
        let scripts = Set(makefile.matches(of: #/\t@scripts/(check-\w+)\n/#).map { String($0.1) })
        #expect(scripts == Set(LintRule.all.map(\.script)))
        let files = try FileManager.default.contentsOfDirectory(atPath: Repository.path("scripts"))
        let others = files.filter { $0.hasPrefix("check-") && !scripts.contains($0) }
        #expect(Set(others) == ["check-install", "check-package"])
        try await SegueCommandLine.inRepository { segue in
            for script in scripts {
                let check = try await segue.withCompiler.shell("scripts/\(script)")
                #expect(check.status == 0, "\(check.error)")
            }
        }
    }

    @Test(
        "A line that breaks a rule is named with its file and line; comments and other lines pass",
        arguments: LintRule.all)
    func examples(rule: LintRule) async throws {
        try await SegueCommandLine.inScratch { segue in
            // The scripts refuse a package without the folders that they check.
            let folders = "find Sources Tests Examples docs/examples -name .build -prune -o -type d -print"
            let copy = try await segue.shell(
                "(cd '\(Repository.path("."))' && \(folders)) | xargs mkdir -p '\(segue.directory)/Sources/Extra'")
            #expect(copy.status == 0, "\(copy.error)")
            let script = Repository.path("scripts/\(rule.script)")

            try segue.write(rule.right.joined(separator: "\n") + "\n", to: rule.file)
            let passed = try await segue.withCompiler.shell("\(script) .")
            #expect(passed.status == 0 && passed.error.isEmpty, "\(passed.error)")

            let lines = rule.right + rule.wrong.flatMap { ["// \($0)", "", $0] }
            try segue.write(lines.joined(separator: "\n") + "\n", to: rule.file)
            let failed = try await segue.withCompiler.shell("\(script) .")
            #expect(failed.status == 1)
            let places = failed.errorLines.filter { $0.hasPrefix(rule.file) }.map { $0.prefix { $0 != " " } }
            let numbers = places.compactMap { Int($0.split(separator: ":")[1]) }
            let expected = rule.wrong.indices.map { rule.right.count + 3 * ($0 + 1) }
            #expect(Set(numbers) == Set(expected), "\(failed.error)")
            #expect(failed.error.contains(rule.advice), "\(failed.error)")
        }
    }
}

extension SegueCommandLine {
    /// The same with the `PATH` of this process, which contains the compiler.
    fileprivate var withCompiler: SegueCommandLine {
        var segue = self
        segue.environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
        return segue
    }
}

/// A rule of a script with examples.
struct LintRule: Sendable, CustomTestStringConvertible {
    let script: String
    /// The file in which the lines are.
    var file = "Sources/Extra/Extra.swift"
    /// A part of the message about a wrong line.
    let advice: String
    let wrong: [String]
    var right: [String] = []

    var testDescription: String { "\(script): \(advice)" }

    static let all =
        lines + text + [
            LintRule(
                script: "check-imports", file: "Sources/Support/Extra.swift", advice: "not on the list",
                wrong: [
                    "import Glibc", "@preconcurrency internal import struct HTTPTypes.HTTPRequest",
                    "import Foundation; import CZeroMQ", "  package import SystemSupport",
                ],
                right: [
                    "internal import Foundation", "import EventBus; import struct Navigation.Flow",
                    "/// import Nothing",
                ]),
            LintRule(
                script: "check-numbers", file: "Sources/Navigation/State/Extra.swift", advice: "has no bounds",
                wrong: [
                    "    var two: Int", "    package private(set) var three: Double? = nil", "    let six: UInt64 = 6",
                ],
                right: [
                    "struct Extra: Codable {", "    @BoundedCount var one: Int", "    var four: Int { 4 }",
                    "    let five: Int?",
                    "    // decode(BoundedCount<Int>.self, forKey: .five)",
                ]),
        ]

    private static let lines = [
        LintRule(
            script: "check-lines", advice: "terminals: write with Console or StandardError",
            wrong: [
                "print(name)", "    if isOn { print(name) }", "try FileHandle.standardOutput.write(contentsOf: data)",
                "let file: FileHandle = .standardError", "fputs(text, stderr)",
                "StreamLogHandler.standardError(label: label)",
                "TerminalText(stringLiteral: name)",
            ],
            right: ["document.print(name)", "/// print(nothing)"]),
        LintRule(
            script: "check-lines", advice: "programs: add 'static func main()", wrong: ["@main"],
            right: ["    @main struct Template {}"]),
        LintRule(
            script: "check-lines", advice: "times: write and read times with Timestamp",
            wrong: ["let time = date.formatted(.iso8601)", "encoder.dateEncodingStrategy = .deferredToDate"],
            right: ["let time = Timestamp.text(of: date)"]),
        LintRule(
            script: "check-lines", advice: "folders: make folders with PrivateFolder.make",
            wrong: ["try FileManager.default.createDirectory(at: url)", "if mkdir(path, 0o700) == 0 {"],
            right: ["// check-lines: why", "try FileManager.default.createDirectory(at: url)", "let x = 1"]),
        LintRule(
            script: "check-lines", advice: "files: make files with AtomicFile",
            wrong: [
                "let file = open(path, O_CREAT | O_RDWR, 0o644)",
                "try text.write(toFile: path, atomically: true, encoding: .utf8)",
                "let queue = try DatabaseQueue(path: path)",
            ],
            right: ["let file = open(path, O_CREAT)  // check-lines: why", "try PrivateFile.claim(path)"]),
        LintRule(
            script: "check-lines", advice: "servers: make HTTP servers with HTTPServer.application",
            wrong: ["let server = Application(router: router)"], right: ["let server = HTTPServer.application(router)"]),
        LintRule(
            script: "check-lines", file: "Tests/Extra.swift", advice: "end: read the end of the journal",
            // check-lines: an example of a wrong line.
            wrong: ["let end = try await bus.publish(Batch([]))"], right: ["let end = try await bus.inspect.end()"]),
        LintRule(
            script: "check-lines", advice: "dead-letters: read deadLetterCount",
            wrong: ["let letters = try await bus.inspect.deadLetters(of: name)"],
            right: ["let letters = try await bus.inspect.deadLetters(of: name, after: page)"]),
        LintRule(
            script: "check-lines", file: "Sources/Bus/Broker/Extra.swift", advice: "rows: read columns with Row.value",
            wrong: ["head = max(head, row[0])", #"head = max(head, row["head"])"#, "return rows.map { $0[1] }"],
            right: [#"head = max(head, try row.number("head"))"#, "let row = rows[0]"]),
        LintRule(
            script: "check-lines", advice: "options: leave the option out",
            // check-lines: an example of a wrong line.
            wrong: ["try socket.set(ZMQ_IMMEDIATE, 1)"], right: ["try socket.set(ZMQ_LINGER, 0)"]),
        LintRule(
            script: "check-lines", advice: "engines: use EventBus",
            // check-lines: an example of a wrong line.
            wrong: ["import NATS", "@testable import struct Broker.Journal", "package import ZeroMQEventBus"],
            right: ["import EventBus", "import NATSPermissions"]),
    ]

    private static let text = [
        LintRule(
            script: "check-text", advice: "divide text",
            wrong: [
                #"let parts = text.split(separator: ";")"#, #"let parts = text.components(separatedBy: "/")"#,
                #"let parts = text.split(whereSeparator: \.isNewline)"#,
            ],
            right: [#"let parts = text.split(scalar: ";")"#]),
        LintRule(
            script: "check-text", advice: "escape with Escape",
            wrong: [
                #"let word = "'" + text.replacing("'", with: "'\\''") + "'""#, #"let page = "<b>&lt;" + text"#,
                #"let url = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)"#,
            ],
            right: [#"let text = text.replacing(scalars: "'", with: "")"#]),
        LintRule(
            script: "check-text", advice: "not Characters",
            wrong: [
                #"let end = text.firstIndex(of: "\"")"#, #"if text.contains("@") { return }"#,
                #"let name = text.prefix { $0 != "=" }"#, ##"if text.first == "#" { return }"##,
                #"if ",:;".contains(text.last) { return }"#, "func quoted(_ quote: Character) {}",
                #"switch text.first { case "{": break; default: break }"#, #"while character == "/" { return }"#,
            ],
            right: [
                #"let name = text.unicodeScalars.prefix { $0 != "=" }"#, #"if byte == UInt8(ascii: "/") { return }"#,
                #"if path == "-" { return }"#, #"switch scalars.first { case "{": break; default: break }"#,
            ]),
        LintRule(
            script: "check-text", advice: "compare with begins(with:)",
            wrong: [
                #"if text.hasPrefix("//") { return }"#, "let scheme = schemes.first(where: text.hasPrefix)",
                #"let isFile = names.contains { $0.hasSuffix(".yaml") }"#,
                #"if text.starts(with: "http://") { return }"#,
                #"if text.prefix(2) == "//" { return }"#, "let rest = text.trimmingPrefix(prefix)",
            ],
            right: [#"if text.begins(with: "//") { return }"#, "if content.utf8.starts(with: magic.utf8) { return }"]),
        LintRule(
            script: "check-text", advice: "search with contains(scalars:)",
            wrong: [#"if text.contains("://") { return }"#, #"let end = text.firstRange(of: "*/")"#],
            right: [
                #"if text.contains(scalars: "://") { return }"#, #"if words.contains(where: { "--utc" == $0 }) {}"#,
            ]),
        LintRule(
            script: "check-text", advice: "cut with removing(prefix:)",
            wrong: ["let name = String(text.dropFirst())", "let id = UInt64($0.dropFirst(run.count + 1))"],
            right: [
                #"let name = text.removing(prefix: "@")"#,
                "let text = String(decoding: bytes.dropFirst(), as: UTF8.self)",
            ]
        ),
        LintRule(
            script: "check-text", advice: "match scalars",
            wrong: [
                "if text.wholeMatch(of: #/[a-z]+/#) != nil { return }", "if text.contains(/%[0-9]/) { return }",
                "    /#.ignoresCase()", #"let form = try Regex("[a-z]+")"#, "import RegexBuilder",
            ],
            right: [
                "if text.wholeMatch(of: #/[a-z]+/#.byScalar) != nil { return }", "    let form = #/", "    /#.byScalar",
                #"let url = "http://a/b" + text / 2 / 3"#,
            ]),
    ]
}
