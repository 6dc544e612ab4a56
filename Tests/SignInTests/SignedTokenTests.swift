import Foundation
import SignIn
import Sodium
import Testing

@Suite("Signed tokens")
struct SignedTokenTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let key = HMAC.Key()

    private func token(
        _ purpose: SignedToken.Purpose = .link, access: PageAccess = .operator, stack: String = "shop"
    ) -> SignedToken {
        SignedToken(purpose, access: access, stack: stack, key: key, lifetime: 60, now: Self.now)
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

    @Test(
        "A token is valid for one purpose, one stack and one key", arguments: [PageAccess.operator, .session("anna")])
    func scope(access: PageAccess) {
        let text = token(access: access).text
        #expect(read(text) != nil)
        #expect(read(text, .cookie) == nil)
        #expect(read(text, stack: "shop2") == nil)
        #expect(read(text, key: HMAC.Key()) == nil)
    }

    @Test("A token keeps its session", arguments: ["anna", "a.b\"<'; ü", String(repeating: "s", count: 255)])
    func session(name: String) {
        #expect(read(token(access: .session(name)).text)?.access == .session(name))
        #expect(read(token().text)?.access == .operator)
    }

    @Test("A session's token cannot become one of an operator or of another session, and an operator's not a session's")
    func otherAccess() throws {
        func parts(_ token: SignedToken) -> [String] { token.text.split(separator: ".").map(String.init) }
        let (anna, bert, all) = (
            parts(token(access: .session("anna"))), parts(token(access: .session("bert"))), parts(token())
        )
        for forged in [
            [anna[0], anna[1], anna[3]], [anna[0], anna[1], bert[2], anna[3]], [all[0], all[1], anna[2], all[2]],
            [anna[0], anna[1], "", anna[3]], [anna[0], anna[1], anna[2], anna[2], anna[3]],
            // The lines of the text that is signed cannot be divided in another way.
            ["\(anna[2])\nshop\n\(anna[0])", anna[1], anna[3]], ["\(anna[0])\n\(anna[1])", anna[2], anna[3]],
        ] {
            #expect(read(forged.joined(separator: ".")) == nil, "\(forged)")
        }
    }

    @Test("A token of an earlier version is an operator's")
    func earlier() throws {
        let signed = "cookie\nshop\nAAAAAAAAAAAAAAAAAAAAAA\n1800000030"
        let code = Base64URL.encode(HMAC.code(of: Data(signed.utf8), with: key))
        let token = read("AAAAAAAAAAAAAAAAAAAAAA.1800000030.\(code)", .cookie)
        #expect(token?.access == .operator)
    }

    @Test("A session with a name that no message can have is refused", arguments: ["", "a\nb", "e\u{301}"])
    func invalidSession(name: String) {
        #expect(read(token(access: .session(name)).text) == nil)
    }

    @Test("Two tokens are never equal")
    func unique() {
        #expect(token().text != token().text)
    }

    @Test("A changed token is not valid", arguments: [PageAccess.operator, .session("anna")])
    func forged(access: PageAccess) {
        let text = token(access: access).text
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
