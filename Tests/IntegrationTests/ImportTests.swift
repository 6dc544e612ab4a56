import CommandLineTestSupport
import Foundation
import Testing

@Suite("What an app on Apple's platforms can link")
struct ImportTests {
    @Test("the modules import only what the list of make lint allows")
    func imports() async throws {
        try await SegueCommandLine.inRepository { segue in
            let check = try await segue.shell("scripts/check-imports && grep -q '@scripts/check-imports' Makefile")
            #expect(check.status == 0, "\(check.error)")
        }
    }

    @Test(
        "any other import is refused, with its file and line",
        arguments: [
            ("import Glibc", "Glibc"), ("@preconcurrency internal import struct HTTPTypes.HTTPRequest", "HTTPTypes"),
            ("import Foundation; import CZeroMQ", "CZeroMQ"), ("  package import SystemSupport", "SystemSupport"),
        ])
    func refusal(line: String, module: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try FileManager.default.copyItem(
                atPath: Repository.path("Sources"), toPath: "\(segue.directory)/Sources")
            try segue.write("/// import Nothing\n\n\(line)\n", to: "Sources/Support/Extra.swift")
            let check = try await segue.shell("\(Repository.path("scripts/check-imports")) .")
            #expect(check.status == 1)
            #expect(
                check.errorLines == [
                    "Sources/Support/Extra.swift:3: imports \(module), which is not on the list in scripts/check-imports"
                ])
        }
    }
}

@Suite("What programs write")
struct OutputTests {
    @Test("passes through the writers that escape control characters, as make lint checks")
    func writers() async throws {
        try await SegueCommandLine.inRepository { segue in
            let check = try await segue.shell("scripts/check-output && grep -q '@scripts/check-output' Makefile")
            #expect(check.status == 0, "\(check.error)")
        }
    }

    @Test(
        "any other write is refused, with its file and line",
        arguments: [
            "print(name)", "    if isOn { print(name) }", "try FileHandle.standardOutput.write(contentsOf: data)",
            "let file: FileHandle = .standardError", "let time = date.formatted(.iso8601)", "fputs(text, stderr)",
            "StreamLogHandler.standardError(label: label)", "TerminalText(stringLiteral: name)",
        ])
    func refusal(line: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/Sources/Executables", withIntermediateDirectories: true)
            try segue.write("/// print(nothing)\n\(line)\n", to: "Sources/Extra.swift")
            let check = try await segue.shell("\(Repository.path("scripts/check-output")) .")
            #expect(check.status == 1)
            #expect(check.errorLines.first == "Sources/Extra.swift:2:\(line)")
        }
    }
}

@Suite("The numbers of messages and of stored states")
struct NumberTests {
    @Test("have bounds")
    func bounds() async throws {
        try await SegueCommandLine.inRepository { segue in
            let check = try await segue.shell("scripts/check-numbers && grep -q '@scripts/check-numbers' Makefile")
            #expect(check.status == 0, "\(check.error)")
        }
    }

    @Test("are refused without bounds, with their file and line")
    func refusal() async throws {
        try await SegueCommandLine.inScratch { segue in
            for folder in ["Sources", "Examples"] {
                try FileManager.default.copyItem(
                    atPath: Repository.path(folder), toPath: "\(segue.directory)/\(folder)")
            }
            let lines = [
                "struct Extra: Codable {", "    @BoundedCount var one: Int", "    var two: Int",
                "    package private(set) var three: Double? = nil", "    var four: Int { 4 }", "    let five: Int?",
                "    // decode(BoundedCount<Int>.self, forKey: .five)", "}",
            ]
            try segue.write(lines.joined(separator: "\n"), to: "Sources/Navigation/State/Extra.swift")
            let check = try await segue.shell("\(Repository.path("scripts/check-numbers")) .")
            #expect(check.status == 1)
            let names = check.errorLines.map { $0.prefix { $0 != " " } }
            #expect(names == ["Sources/Navigation/State/Extra.swift:3:", "Sources/Navigation/State/Extra.swift:4:"])
        }
    }
}
