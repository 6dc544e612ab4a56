import Foundation
import TestSupport
import Testing

@Suite("Promises of pages, and the tests that show them")
struct BusPageTests {
    /// The tests that run on an engine of the bus.
    private struct EngineTests {
        let name: String
        let names: Set<String>

        /// Both engines run all conformance cases. Other tests run on NATS because of their suite or their arguments.
        static func all() throws -> [EngineTests] {
            for suite in ["NATSEventBusTests/ConformanceTests", "ZeroMQEventBusTests/ZeroMQEventBusTests"] {
                let source = try String(contentsOfFile: Repository.path("Tests/\(suite).swift"), encoding: .utf8)
                try #require(source.contains("arguments: ConformanceCase.all(with: .all))"))
            }
            let cases = try Repository.testNames(in: "BusConformance/")
            let suites = ["NATSEventBusTests/", "NATSTests/", "StewardTests/", "IntegrationTests/NATS"]
            let ofNATS = try suites.reduce(into: Set<String>()) { $0.formUnion(try Repository.testNames(in: $1)) }
            let ofBoth = try Repository.testNames { attribute in
                ["BusEngine.allCases", "Shape.allCases", "Shape.single"].contains { attribute.contains($0) }
            }
            return [
                EngineTests(name: "ZeroMQ", names: try Repository.testNames().subtracting(ofNATS).union(cases)),
                EngineTests(name: "NATS", names: cases.union(ofNATS).union(ofBoth)),
            ]
        }
    }

    /// A table of a page, and for each of its rows the tests that show it. They are in a file, because a reader of the page
    /// does not need them:
    ///
    ///     # docs/bus.md: kind | promise
    ///     # engines: ZeroMQ NATS
    ///
    ///     query | If no process serves the query, `ask` throws `bus.unserved` at once.
    ///       A query that no process serves is refused at once
    ///       NATS: a test for this engine, if it is another one
    private struct TestedTable {
        let page: String
        /// The rows, without the line of the headings.
        private(set) var rows: [String] = []
        let headings: String
        /// For each row, the names of the tests.
        private(set) var tests: [[String]] = []
        private(set) var isOnEngines = false
        /// The folders of the tests, if they must have real processes. Otherwise empty.
        private(set) var suites: [String] = []

        static let files = ["bus", "faults", "nats", "running", "security"]

        /// The tables of a file, in the order of the page.
        static func all(in file: String) throws -> [TestedTable] {
            let path = Repository.path("Tests/Fixtures/PageTests/\(file).txt")
            var tables: [TestedTable] = []
            for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
                if let match = line.wholeMatch(of: #/# (\S+\.md): (.+)/#) {
                    tables.append(TestedTable(page: String(match.1), headings: String(match.2)))
                    continue
                }
                try #require(!tables.isEmpty, "\(path): \(line)")
                try tables[tables.count - 1].add(line)
            }
            return tables
        }

        private init(page: String, headings: String) {
            (self.page, self.headings) = (page, headings)
        }

        private mutating func add(_ line: Substring) throws {
            if line == "# engines: ZeroMQ NATS" {
                isOnEngines = true
            } else if let match = line.wholeMatch(of: #/# suites: (.+)/#) {
                suites = match.1.split(separator: " ").map(String.init)
            } else if line.hasPrefix("  ") {
                try #require(!tests.isEmpty, "a test without a row: \(line)")
                tests[tests.count - 1].append(String(line.dropFirst(2)))
            } else {
                rows.append(String(line))
                tests.append([])
            }
        }
    }

    @Test(
        "Each promise, fault and guarantee of a page has tests: on each engine, or with real processes",
        arguments: TestedTable.files)
    func tests(file: String) throws {
        let (engines, all) = (try EngineTests.all(), try Repository.testNames())
        let tables = try TestedTable.all(in: file)
        try #require(tables.count > 0)
        var known = try Dictionary(grouping: Page(tables[0].page).tables) { $0.headings.joined(separator: " | ") }
        for table in tables {
            let written = try #require(known[table.headings]?.first, "\(table.page) has no table \(table.headings)")
            known[table.headings]?.removeFirst()
            #expect(written.rows.map { $0.joined(separator: " | ") } == table.rows)
            let names =
                try table.suites.isEmpty
                ? all
                : table.suites.reduce(into: []) {
                    $0.formUnion(try Repository.testNames(in: $1))
                }
            for (row, tests) in zip(table.rows, table.tests) {
                #expect(!tests.isEmpty, "\(row) has no test")
                if table.isOnEngines {
                    for engine in engines {
                        let own = tests.filter { $0.hasPrefix("NATS: ") == (engine.name == "NATS") }
                        for test in own.isEmpty ? tests : own {
                            let name = test.replacing("NATS: ", with: "")
                            #expect(engine.names.contains(name), "no test on \(engine.name) is called '\(name)'")
                        }
                    }
                } else {
                    for test in tests { #expect(names.contains(test), "no test is called '\(test)'") }
                }
            }
        }
    }

    @Test("docs/wire-protocol.md lists exactly the codes of refusals")
    func codes() throws {
        let source = try String(
            contentsOfFile: Repository.path("Sources/Bus/BusFormat/ProtocolError.swift"), encoding: .utf8)
        let defined = source.matches(of: #/Code\(rawValue: (\d+)\)/#).compactMap { Int($0.1) }
        let documented = try Page("docs/wire-protocol.md").rows.compactMap { $0.count == 3 ? Int($0[0]) : nil }
        #expect(!defined.isEmpty)
        #expect(documented == defined)
    }
}
