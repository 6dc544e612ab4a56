import Foundation
import TestSupport

extension Repository {
    /// The names of the tests, and of the conformance cases.
    /// - Parameters:
    ///   - place: The beginning of the path in the folder of tests.
    ///   - fits: Selects a test by its attribute with its arguments.
    static func testNames(
        in place: String = "", where fits: (Substring) -> Bool = { _ in true }
    ) throws -> Set<String> {
        let directory = path("Tests")
        let files = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasPrefix(place) && $0.hasSuffix(".swift") }.reduce(into: []) { names, file in
            let source = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
            let named = source.matches(of: #/(?:@Test|ConformanceCase)\(\s*"([^"]+)"(?s:.*?)(?:func|\{)/#)
            names.formUnion(named.filter { fits($0.0) }.map { String($0.1) })
            // The name of a test can be that of its function, in backticks.
            let functions = source.matches(of: #/@Test(?s:[^{]*?)func `([^`]+)`/#)
            names.formUnion(functions.filter { fits($0.0) }.map { String($0.1) })
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

    /// A table, without the line below its headings.
    struct Table {
        let headings: [String]
        var rows: [[String]] = []
    }

    var tables: [Table] {
        var tables: [Table] = []
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                isInTable = false
                continue
            }
            if let cells = Page(text: String(line)).rows.first {
                if isInTable {
                    tables[tables.count - 1].rows.append(cells)
                } else {
                    tables.append(Table(headings: cells))
                }
            }
            isInTable = true
        }
        return tables
    }
}
