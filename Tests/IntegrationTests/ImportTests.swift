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
