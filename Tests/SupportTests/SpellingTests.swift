import Support
import Testing

@Suite("Spelling")
struct SpellingTests {
    @Test(
        "The nearest candidate is the one that a slip of the fingers most likely meant",
        arguments: [
            ("psuh", "push"), ("Push", "push"), ("pus", "push"), ("pushh", "push"), ("popToRot", "popToRoot"),
            ("x", nil), ("dismiss", "dismiss"), ("", nil),
        ] as [(String, String?)])
    func nearest(word: String, meant: String?) {
        #expect(Spelling.nearest(to: word, in: ["popToRoot", "dismiss", "push"]) == meant)
    }

    @Test("Of equally near candidates it is the first in alphabetical order")
    func ties() {
        #expect(Spelling.nearest(to: "cat", in: ["cut", "bat", "cot"]) == "bat")
    }

    @Test("Without a near candidate all are named")
    func advice() {
        #expect(Spelling.advice(for: "psuh", among: ["push", "pop"]) == "did you mean 'push'?")
        #expect(Spelling.advice(for: "elephant", among: ["push", "pop"]) == "known: pop, push")
        #expect(Spelling.advice(for: "push", among: []) == "there are none yet")
    }
}

@Suite("The stable hash")
struct FNV1aTests {
    @Test(
        "Equals the published values of 64-bit FNV-1a",
        arguments: [("", "cbf29ce484222325"), ("foobar", "85944171f73967e8")])
    func published(text: String, hash: String) {
        var hasher = FNV1a()
        hasher.combine(text)
        #expect(hasher.hexadecimal == hash)
    }
}
