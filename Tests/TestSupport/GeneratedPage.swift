internal import Foundation

/// A page of this repository that a program writes. `make pages` writes all of them anew.
package struct GeneratedPage {
    private let path: String
    private let text: String

    package init(_ path: String, _ text: String) {
        (self.path, self.text) = (Repository.path(path), text)
    }

    /// True if the file has this text. With `SEGUE_RENEW_PAGES`, writes the file first.
    package func isWritten() throws -> Bool {
        if ProcessInfo.processInfo.environment["SEGUE_RENEW_PAGES"] != nil {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        return try String(contentsOfFile: path, encoding: .utf8) == text
    }

    /// A table in Markdown.
    package static func table(_ headings: [String], _ rows: [[String]]) -> String {
        let lines = ([headings] + rows).map { cells in
            "| \(cells.map { $0.replacingOccurrences(of: "|", with: "\\|") }.joined(separator: " | ")) |"
        }
        let rule = "|" + headings.map { _ in "---|" }.joined()
        return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n")
    }
}
