import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

/// The samples of a page: its blocks without a language, which show what commands print on a terminal of 100 columns.
///
/// Lines are compared in any order, because processes cause them that do not wait for each other.
struct PageSamples {
    let path: String

    /// The lines that a command writes to a terminal.
    static func lines(of command: String, _ segue: SegueCommandLine) async throws -> [String] {
        var terminal = segue
        terminal.environment.merge(["TERM": "xterm", "NO_COLOR": "1"]) { $1 }
        try segue.write("stty cols 100; \(command) 2>/dev/null", to: "command.sh")
        let script = "script -qec 'bash \(segue.directory)/command.sh' /dev/null </dev/null"
        let result = try await terminal.shell(script)
        try #require(result.status == 0, "\(command): \(result.output)")
        return result.output.split(separator: "\r\n").map { String($0).replacing(#/ +$/#, with: "") }
    }

    /// Compares the samples with the lines of commands, or writes the lines to the page if `SEGUE_RENEW_PAGES` is set.
    func check(_ outputs: [String]...) throws {
        let page = try Page(path)
        let outputs = outputs.map { $0.map { $0 + "\n" }.joined() }
        let blocks = page.blocks(of: "")
        try #require(blocks.count == outputs.count)
        guard ProcessInfo.processInfo.environment["SEGUE_RENEW_PAGES"] == nil else {
            return try renew(page, blocks, with: outputs)
        }
        for (block, output) in zip(blocks, outputs) {
            #expect(
                Self.comparable(output) == Self.comparable(block),
                """
                \(path) shows:
                \(block)The output is now:
                \(output)SEGUE_RENEW_PAGES=1 scripts/test --filter TESTS writes the blocks of the page anew
                """)
        }
    }

    /// Times, the time since another message, the instance of a process, the end of a story's id, and a trace id.
    private static var varying: Regex<Substring> {
        #/\+?\d+ ms|(?:[\d-]{10}T)?[\d:]{8}\.\d{3}Z?|\/[\da-f]{8}\b|#[\da-f]+-[\da-f]+|\b[\da-f]{32}\b/#
    }

    /// The lines in a fixed order, without what differs from run to run. A value changes the spaces beside it, too.
    private static func comparable(_ output: String) -> [String] {
        parts(of: output).map { $0.replacing(varying, with: "").replacing(#/ +/#, with: " ") }.sorted()
    }

    /// The lines; of effects, each part with its actor. Effects of one process share a line only if it has published
    /// them within some milliseconds.
    private static func parts(of output: String) -> [String] {
        var actor: Substring?
        return output.split(separator: "\n").flatMap { line in
            if let effect = line.wholeMatch(of: #/ *\+\d+ ms +(\S+) +(.*)/#) {
                actor = effect.1
                return effect.2.split(separator: " · ").map { "\(effect.1) \($0)" }
            }
            guard let actor, line.hasPrefix("                    ") else {
                actor = nil
                return [String(line)]
            }
            return line.split(separator: " · ").map { "\(actor) \($0)" }
        }
    }

    private func renew(_ page: Page, _ blocks: [String], with outputs: [String]) throws {
        var (text, place) = (page.text, page.text.startIndex)
        for (block, output) in zip(blocks, outputs) {
            let range = try #require(text[place...].firstRange(of: "\n```\n\(block)```\n"))
            let start = text.distance(from: text.startIndex, to: range.lowerBound)
            text.replaceSubrange(range, with: "\n```\n\(output)```\n")
            place = text.index(text.startIndex, offsetBy: start + output.count + 8)
        }
        try text.write(toFile: Repository.path(path), atomically: true, encoding: .utf8)
    }
}
