import Foundation

/// The files of this package that tests read.
enum Repository {
    static func path(_ relative: String) -> String {
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../\(relative)").standardizedFileURL.path
    }

    /// The names of the tests, and of the conformance cases.
    static func testNames(in folder: String = "") throws -> Set<String> {
        let directory = path("Tests/\(folder)")
        let files = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix(".swift") }.reduce(into: []) { names, file in
            let source = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
            names.formUnion(source.matches(of: #/(?:@Test|ConformanceCase)\(\s*"([^"]+)"/#).map { String($0.1) })
        }
    }
}

/// A page of this repository.
struct Page {
    let text: String

    init(_ path: String) throws {
        self.init(text: try String(contentsOfFile: Repository.path(path), encoding: .utf8))
    }

    private init(text: String) {
        self.text = text
    }

    /// The text under a heading of the second level.
    func section(_ title: String) -> Page {
        let start = text.firstRange(of: "\n## \(title)\n")?.upperBound ?? text.endIndex
        let rest = text[start...]
        return Page(text: String(rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]))
    }

    /// The code blocks in a language, in order.
    func blocks(of language: String) -> [String] {
        text.matches(of: #/(?s)```(\w*)\n(.*?)```/#).filter { $0.1 == language }.map { String($0.2) }
    }

    /// The cells of the page's tables, row by row, without the lines below the headings.
    var rows: [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            // In a cell, a bar is written \|.
            line.replacing(#"\|"#, with: "\u{0}").split(separator: "|").map {
                $0.replacing("\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
            }
        }
    }
}
