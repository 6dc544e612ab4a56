import CommandLineTestSupport
import Foundation
import Testing

@Suite("Files, folders and HTTP servers")
struct DoorCheckTests {
    @Test("are made only where their protection is")
    func doors() async throws {
        try await SegueCommandLine.inRepository { segue in
            let check = try await segue.shell("scripts/check-doors && grep -q '@scripts/check-doors' Makefile")
            #expect(check.status == 0, "\(check.error)")
        }
    }

    @Test(
        "that are made elsewhere are found, with file and line; a reason beside them permits them",
        arguments: [
            ("try FileManager.default.createDirectory(at: url)", "PrivateFolder"),
            ("if mkdir(path, 0o700) == 0 {", "Private"),
            ("let file = open(path, O_CREAT | O_RDWR, 0o644)", "AtomicFile"),
            ("try text.write(toFile: path, atomically: true, encoding: .utf8)", "AtomicFile"),
            ("let queue = try DatabaseQueue(path: path)", "PrivateFile"),
            ("let server = Application(router: router)", "HTTPServer"),
        ])
    func refusal(line: String, advice: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/Sources/Device", withIntermediateDirectories: true)
            try segue.write(
                "// \(line)\n\n    \(line)\n// check-doors: why\n\(line)\n", to: "Sources/Device/Extra.swift")
            let check = try await segue.shell("\(Repository.path("scripts/check-doors")) .")
            #expect(check.status == 1 && check.errorLines.count == 2, "\(check.error)")
            #expect(check.errorLines.first == "Sources/Device/Extra.swift:3:    \(line)")
            #expect(check.errorLines.last?.contains(advice) == true)
        }
    }
}
