import Support
import Testing

@Suite("Spelling")
struct SpellingTests {
    @Test(
        "The closest candidate is the one with the most likely typing error",
        arguments: [
            ("psuh", "push"), ("Push", "push"), ("pus", "push"), ("pushh", "push"), ("popToRot", "popToRoot"),
            ("x", nil), ("dismiss", "dismiss"), ("", nil),
        ] as [(String, String?)])
    func nearest(word: String, meant: String?) {
        #expect(Spelling.nearest(to: word, in: ["popToRoot", "dismiss", "push"]) == meant)
    }

    @Test("The first in alphabetical order is chosen among equally close candidates")
    func ties() {
        #expect(Spelling.nearest(to: "cat", in: ["cut", "bat", "cot"]) == "bat")
    }

    @Test("All candidates are listed if none is close")
    func advice() {
        #expect(Spelling.advice(for: "psuh", among: ["push", "pop"]) == "did you mean 'push'?")
        #expect(Spelling.advice(for: "elephant", among: ["push", "pop"]) == "known: pop, push")
        #expect(Spelling.advice(for: "push", among: []) == "there are none yet")
    }

    @Test("Of very many candidates, none is suggested, and fifty are listed")
    func many() {
        let names = (1...2_000).map { "screen\($0)" }
        #expect(Spelling.nearest(to: "screen0", in: names) == nil)
        #expect(Spelling.advice(for: "screen0", among: names).hasSuffix(" and 1950 more"))
        #expect(Spelling.advice(for: "elephant", among: names.prefix(50)).contains("more") == false)
    }
}

@Suite("Stable hash")
struct FNV1aTests {
    @Test(
        "The hash equals the published values of 64-bit FNV-1a",
        arguments: [("", "cbf29ce484222325"), ("foobar", "85944171f73967e8")])
    func published(text: String, hash: String) {
        var hasher = FNV1a()
        hasher.combine(text)
        #expect(hasher.hexadecimal == hash)
    }
}
