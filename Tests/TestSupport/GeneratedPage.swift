internal import Foundation
package import Testing

/// A page of this repository that a program writes.
package struct GeneratedPage {
    private let path: String
    private let text: String

    package init(_ path: String, _ text: String) {
        (self.path, self.text) = (Repository.path(path), text)
    }

    /// Expects that the file has this text. With `SEGUE_RENEW_PAGES`, writes the file first.
    package func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        if ProcessInfo.processInfo.environment["SEGUE_RENEW_PAGES"] != nil {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let written = try? String(contentsOfFile: path, encoding: .utf8)
        #expect(written == text, "`make pages` writes \(path) anew", sourceLocation: sourceLocation)
    }
}
