import BusFuzz
import Testing

@Suite("Garbage on the ingress")
struct FuzzTests {
    @Test("whatever is sent gets an answer, and leaves the journal whole", arguments: [1, 2] as [UInt64])
    func garbage(seed: UInt64) throws {
        try Fixture.inDirectory { directory in
            var fuzz = try BrokerFuzz(seed: seed, directory: directory)
            try fuzz.run(inputs: 10_000)
            #expect(fuzz.summary.answers > 5000)
            #expect(fuzz.summary.feed > 500)
            // Each code that a garbled request can get: 9, 11 and 12 take a full disk, a slow or a dying server.
            #expect(Set([14] + Array(1...8)).isSubset(of: fuzz.summary.refusals.keys))
        }
    }
}
