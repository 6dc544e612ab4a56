import Foundation
import Testing

@Suite("What docs/bus.md promises")
struct BusPageTests {
    @Test("every promise, and every fault, names a test that is there; one with real processes where the page says so")
    func tests() throws {
        let suites = [
            "test": try Repository.testNames(),
            "test with real processes": try ["BusFaultTests", "BusSoakTests", "IntegrationTests"].reduce(into: []) {
                $0.formUnion(try Repository.testNames(in: $1))
            },
        ]
        var heading = ""
        var counts: [String: Int] = [:]
        for row in try Page("docs/bus.md").rows where row.count == 3 {
            if suites[row[2]] != nil {
                heading = row[2]
            } else {
                #expect(suites[heading]?.contains(row[2]) == true, "no \(heading) is called '\(row[2])'")
                counts[heading, default: 0] += 1
            }
        }
        #expect(counts["test", default: 0] > 30)
        #expect(counts["test with real processes", default: 0] > 15)
    }

    @Test("every code of a refusal stands in docs/wire-protocol.md, and no other")
    func codes() throws {
        let source = try String(
            contentsOfFile: Repository.path("Sources/Bus/BusProtocol/ProtocolError.swift"), encoding: .utf8)
        let defined = source.matches(of: #/Code\(rawValue: (\d+)\)/#).compactMap { Int($0.1) }
        let documented = try Page("docs/wire-protocol.md").rows.compactMap { $0.count == 3 ? Int($0[0]) : nil }
        #expect(!defined.isEmpty)
        #expect(documented == defined)
    }
}
