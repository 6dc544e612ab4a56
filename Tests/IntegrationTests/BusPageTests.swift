import Foundation
import TestSupport
import Testing

@Suite("Promises of docs/bus.md, and tests that pages name")
struct BusPageTests {
    /// The tests that run on an engine of the bus.
    private struct EngineTests {
        /// The column of the page.
        let column: String
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
                EngineTests(column: "ZeroMQ", names: try Repository.testNames().subtracting(ofNATS).union(cases)),
                EngineTests(column: "NATS", names: cases.union(ofNATS).union(ofBoth)),
            ]
        }
    }

    @Test("Each promise states how each engine keeps it, and names a test that runs on that engine")
    func promises() throws {
        let engines = try EngineTests.all()
        var counts: [String: Int] = [:]
        for row in try Page("docs/bus.md").namedRows where row["ZeroMQ"] != nil && row["test"] != nil {
            let tests = try #require(row["test"]).components(separatedBy: "<br>NATS: ")
            for engine in engines {
                let promise = try #require(row[engine.column], "\(row)")
                let kept = try #require(promise.wholeMatch(of: #/(kept|weaker: .+|not kept: .+)/#)?.1, "\(row)")
                let test = engine.column == "NATS" ? tests.last ?? "" : tests[0]
                #expect(engine.names.contains(test), "no test on \(engine.column) is called '\(test)'")
                counts["\(engine.column) \(kept == "kept" ? "kept" : "weaker")", default: 0] += 1
            }
        }
        #expect(counts["ZeroMQ kept", default: 0] > 60)
        #expect(counts["NATS kept", default: 0] > 60)
        // A promise that the default engine does not keep is not a promise.
        #expect(counts["ZeroMQ weaker"] == nil && counts["NATS weaker", default: 0] < 5)
    }

    /// A page whose tables name tests.
    private struct TestedPage: CustomTestStringConvertible {
        let path: String
        /// The folders of the tests with real processes.
        let suites: [String]
        /// The smallest numbers of rows that name tests.
        let counts: [String: Int]

        var testDescription: String { path }

        static let all = [
            TestedPage(
                path: "docs/bus.md", suites: ["BusFaultTests", "BusSoakTests", "IntegrationTests"],
                counts: ["test": 31, "test with real processes": 16]),
            TestedPage(
                path: "docs/nats.md", suites: ["NATSFaultTests", "NATSTests", "StewardTests", "BusSoakTests"],
                counts: ["test": 0, "test with real processes": 10]),
            TestedPage(path: "SECURITY.md", suites: [], counts: ["test": 28]),
        ]
    }

    @Test(
        "Every fault, guarantee and effect of a handler names tests, with real processes where the page says so",
        arguments: TestedPage.all)
    private func tests(of page: TestedPage) throws {
        let rows = try Page(page.path).namedRows.filter { $0["ZeroMQ"] == nil }
        for (heading, count) in page.counts {
            let places = heading == "test" ? [""] : page.suites
            let names = try places.reduce(into: Set<String>()) { $0.formUnion(try Repository.testNames(in: $1)) }
            let named = rows.compactMap { $0[heading] }
            for test in named.flatMap({ $0.components(separatedBy: "<br>") }) {
                #expect(names.contains(test), "no \(heading) is called '\(test)'")
            }
            #expect(named.count >= count)
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
