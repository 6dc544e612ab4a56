import CommandLineTestSupport
import FlowFiles
import Foundation
import Navigation
import SegueTestSupport
import TestSupport
import Testing

@Suite("The page in a browser in docs/observing.md")
struct PagePageTests {
    private static func section() throws -> Page {
        try Page("docs/observing.md").section(ObservingPageTests.browserSection)
    }

    @Test("The commands of the page start the stack, print the address and read the metrics", .timeLimit(.minutes(3)))
    func commands() async throws {
        let blocks = try Self.section().blocks(of: "sh")
        try #require(blocks.count == 3)
        try await SegueCommandLine.inRepository { segue in
            let result = try await segue.shell("set -euo pipefail\n\(blocks[0])\(blocks[1])")
            #expect(result.status == 0, "\(result.error)")
            #expect(result.output.contains(#/http://127\.0\.0\.1:\d+\n/#))
            #expect(result.output.contains(#"segue_process_up{process="navigation-coordinator (ios)""#))
            // The page itself is in place: a browser that has not signed in is told what to do.
            let page = try await segue.shell("curl --silent \"$(segue open --address)/\"")
            #expect(page.output.contains("segue open"))
            // The map: the browser gets a file that leads to it, for the bus of this folder or the one that is named.
            let address = try await segue.shell("segue open --address").output.trimmingCharacters(in: .newlines)
            let live = try await segue.shell("BROWSER='cp -t \(segue.directory)' segue flow graph --live")
            #expect(live.output == "\(address)/#/map\n", "\(live.error)")
            let files = try FileManager.default.contentsOfDirectory(atPath: segue.directory)
            let file = try #require(files.first { $0.hasSuffix(".html") })
            let opened = try String(contentsOfFile: "\(segue.directory)/\(file)", encoding: .utf8)
            #expect(opened.contains("&amp;view=map\""))
            // The map with the rules that no scenario takes.
            let path = Repository.path("config/flows/ios.yaml")
            let version = try Flow(yaml: String(contentsOfFile: path, encoding: .utf8), file: path).hash
            let cover = try await segue.shell(
                "BROWSER='cp -t \(segue.directory)' segue flow cover \(path) - --live <<< '- send: event.LaunchFinished'"
            )
            #expect(
                cover.lines.last?.hasPrefix("\(address)/#/map?untaken=\(version),transitions%5B") == true,
                "\(cover.error)")
            let covered = try String(contentsOfFile: "\(segue.directory)/\(file)", encoding: .utf8)
            #expect(covered.contains("&amp;view=map%3Funtaken%3D\(version)%2Ctransitions%255B"))
        }
    }

    @Test("The files of the page are as small as docs/observing.md says")
    func size() throws {
        let text = try Self.section().text
        let limit = try #require(text.firstMatch(of: #/most (\d+) KB in all/#).flatMap { Int($0.1) })
        let folder = Repository.path("Sources/Devices/WebPage/Page")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        let sizes = try names.map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return attributes[.type] as? FileAttributeType == .typeRegular ? attributes[.size] as? Int ?? 0 : 0
        }
        #expect(sizes.count > 50)
        #expect(((limit - 10) * 1000...limit * 1000).contains(sizes.reduce(0, +)))
    }

    @Test("The measurements of the page are those of the makefile")
    func measurements() async throws {
        let block = try #require(try Self.section().blocks(of: "sh").last)
        try await SegueCommandLine.inRepository { segue in
            // Running them takes minutes, and needs a release build.
            let result = try await segue.shell(block.replacing("make ", with: "make --dry-run "))
            #expect(result.status == 0, "\(result.error)")
            #expect(result.output.contains("scripts/measure-page memory --minutes 60"))
        }
    }
}
