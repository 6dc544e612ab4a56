import Foundation
import TestSupport
import Testing

@Suite("Links of pages")
struct PageLinksTests {
    private static let folders = ["", "docs", "Sources/FocusPlayer", "Examples/Coffee"]

    /// The pages, by their paths in the repository.
    private static func pages() throws -> [String: Page] {
        let files = try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: Repository.path(folder)).filter { $0.hasSuffix(".md") }
                .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        }
        return try Dictionary(uniqueKeysWithValues: files.map { ($0, try Page($0)) })
    }

    /// The part of a page's address that leads to a heading, as GitHub writes it.
    private static func anchor(of heading: Substring) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || "_- ".contains($0) }.replacing(" ", with: "-")
    }

    @Test("Each link leads to a file that exists and, in a page, to a heading that it has")
    func links() throws {
        let pages = try Self.pages()
        let texts = pages.mapValues { $0.text.replacing(#/(?s)```.*?```/#, with: "") }
        let anchors = texts.mapValues { text in
            Set(text.split(separator: "\n").matches(of: #/#+ (.*)/#).map(Self.anchor))
        }
        var count = 0
        for (path, text) in texts {
            for match in text.matches(of: #/\]\(([^)\s]+)\)/#) where !match.1.contains(":") {
                let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let folder = URL(filePath: "/\(path)").deletingLastPathComponent()
                let target =
                    parts[0].isEmpty ? path : String(folder.appending(path: parts[0]).standardized.path().dropFirst())
                count += 1
                #expect(
                    FileManager.default.fileExists(atPath: Repository.path(target)), "\(path): \(match.1) leads nowhere"
                )
                guard parts.count == 2, let headings = anchors[target] else { continue }
                #expect(headings.contains(String(parts[1])), "\(path): \(target) has no heading '\(parts[1])'")
            }
        }
        #expect(count > 100)
    }
}

extension [Substring] {
    fileprivate func matches(of regex: Regex<(Substring, Substring)>) -> [Substring] {
        compactMap { $0.wholeMatch(of: regex)?.1 }
    }
}
