import CommandLineTestSupport
import Foundation
import Testing

@Suite("What make lint refuses about text")
struct TextRuleTests {
    @Test("only the module for that escapes text, divides it, or compares it with syntax characters")
    func rule() async throws {
        try await SegueCommandLine.inRepository { segue in
            let check = try await segue.shell("scripts/check-text && grep -q '@scripts/check-text' Makefile")
            #expect(check.status == 0, "\(check.error)")
        }
    }

    @Test(
        "a line that compares Characters, or that escapes, is refused with its file and line",
        arguments: [
            #"let parts = text.split(separator: ";")"#, #"let parts = text.components(separatedBy: "/")"#,
            #"let parts = text.split(whereSeparator: \.isNewline)"#, #"let end = text.firstIndex(of: "\"")"#,
            #"let word = "'" + text.replacing("'", with: "'\\''") + "'""#, #"let page = "<b>&lt;" + text"#,
            #"if text.contains("@") { return }"#, #"let name = text.prefix { $0 != "=" }"#,
            ##"if text.first == "#" { return }"##, #"if ",:;".contains(text.last) { return }"#,
            "func quoted(_ quote: Character) {}", #"switch text.first { case "{": break; default: break }"#,
            #"let url = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)"#,
        ])
    func refusal(line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try Self.addFolder(segue)
            try segue.write("// text.split(separator: \",\")\n\n\(line)\n", to: "Sources/Extra/Extra.swift")
            let check = try await segue.shell("\(Repository.path("scripts/check-text")) .")
            #expect(check.status == 1)
            #expect(!check.errorLines.isEmpty)
            #expect(check.errorLines.allSatisfy { $0.hasPrefix("Sources/Extra/Extra.swift:3: ") }, "\(check.error)")
        }
    }

    @Test(
        "a comparison of Unicode scalars, of bytes or of whole texts is not refused",
        arguments: [
            #"let parts = text.split(scalar: ";")"#, #"let name = text.unicodeScalars.prefix { $0 != "=" }"#,
            #"if byte == UInt8(ascii: "/") { return }"#, #"if path == "-" { return }"#,
            "switch scalars.first { case \"{\": break; default: break }",
        ])
    func acceptance(line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try Self.addFolder(segue)
            try segue.write(line + "\n", to: "Sources/Extra/Extra.swift")
            let check = try await segue.shell("\(Repository.path("scripts/check-text")) .")
            #expect(check.status == 0, "\(check.error)")
        }
    }
    private static func addFolder(_ segue: SegueCommandLine) throws {
        try FileManager.default.createDirectory(
            atPath: "\(segue.directory)/Sources/Extra", withIntermediateDirectories: true)
    }
}
