import Foundation
import SignIn
import Sodium
import Testing

@Suite("Signed tokens")
struct SignedTokenTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let key = HMAC.Key()

    private func token(_ purpose: SignedToken.Purpose = .link, stack: String = "shop") -> SignedToken {
        SignedToken(purpose, stack: stack, key: key, lifetime: 60, now: Self.now)
    }

    private func read(
        _ text: String, _ purpose: SignedToken.Purpose = .link, stack: String = "shop", key: HMAC.Key? = nil,
        after seconds: TimeInterval = 0
    ) -> SignedToken? {
        SignedToken(
            text, for: purpose, stack: stack, key: key ?? self.key, lifetime: 60, now: Self.now + seconds)
    }

    @Test("A token is valid until it expires", arguments: [(0.0, true), (59.9, true), (60.0, false), (3600.0, false)])
    func expiry(seconds: TimeInterval, isValid: Bool) {
        #expect((read(token().text, after: seconds) != nil) == isValid)
    }

    @Test("A token that would be valid for longer than its lifetime is not valid")
    func clock() {
        #expect(read(token().text, after: -3600) == nil)
    }

    @Test("A token is valid for one purpose, one stack and one key")
    func scope() {
        let text = token().text
        #expect(read(text) != nil)
        #expect(read(text, .cookie) == nil)
        #expect(read(text, stack: "shop2") == nil)
        #expect(read(text, key: HMAC.Key()) == nil)
    }

    @Test("Two tokens are never equal")
    func unique() {
        #expect(token().text != token().text)
    }

    @Test("A changed token is not valid")
    func forged() {
        let text = token().text
        for index in text.indices where text[index] != "." {
            var forged = text
            forged.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            // The last character of a code has bits that the code does not use.
            guard forged != text, index < text.index(text.endIndex, offsetBy: -1) else { continue }
            #expect(read(forged) == nil, "\(forged)")
        }
    }

    @Test(
        "Other texts are not tokens",
        arguments: ["", ".", "..", "a.b.c", "a.1800000030.", "a.+1800000030.YQ", String(repeating: "a", count: 10_000)])
    func others(text: String) {
        #expect(read(text) == nil)
    }
}
