import Foundation

/// A page of this repository.
struct Page {
    let text: String

    init(_ path: String) throws {
        self.init(text: try String(contentsOfFile: Repository.path(path), encoding: .utf8))
    }

    private init(text: String) {
        self.text = text
    }

    /// What stands under a heading of the second level.
    func section(_ title: String) -> Page {
        let start = text.firstRange(of: "\n## \(title)\n")?.upperBound ?? text.endIndex
        let rest = text[start...]
        return Page(text: String(rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]))
    }

    /// The code blocks in a language, in order.
    func blocks(of language: String) -> [String] {
        text.matches(of: #/(?s)```(\w*)\n(.*?)```/#).filter { $0.1 == language }.map { String($0.2) }
    }

    /// The cells of its tables, row by row, without the lines below the headings.
    var rows: [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            // A bar inside a cell is written \|.
            line.replacing(#"\|"#, with: "\u{0}").split(separator: "|").map {
                $0.replacing("\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
            }
        }
    }
}
