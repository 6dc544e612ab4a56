import Foundation
import Testing

@Suite("What docs/bus.md promises")
struct BusPageTests {
    @Test("every promise, and every fault, names a test that is there")
    func tests() throws {
        let named = try Page("docs/bus.md").rows.compactMap { $0.count == 3 && $0[2] != "test" ? $0[2] : nil }
        #expect(named.count > 30)
        let tests = try Self.testNames()
        for name in named {
            #expect(tests.contains(name), "no test is called '\(name)'")
        }
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

    /// What tests are called in prose, here and in the cases that every transport runs.
    private static func testNames() throws -> Set<String> {
        let directory = Repository.path("Tests")
        let files = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix(".swift") }.reduce(into: []) { names, file in
            let source = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
            names.formUnion(source.matches(of: #/(?:@Test|ConformanceCase)\(\s*"([^"]+)"/#).map { String($0.1) })
        }
    }
}
