import Authorization
import Foundation
import Testing

@Suite("Code verifier")
struct CodeVerifierTests {
    @Test("The challenge is the one of RFC 7636, appendix B")
    func challenge() throws {
        let verifier = try #require(CodeVerifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(verifier.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("A new verifier is unique, and always valid for the RFC")
    func new() {
        let verifiers = (0..<100).map { _ in CodeVerifier() }
        #expect(Set(verifiers).count == 100)
        #expect(verifiers.allSatisfy { CodeVerifier($0.value) == $0 })
    }

    @Test(
        "Length and alphabet of a verifier are checked",
        arguments: [
            String(repeating: "a", count: 42), String(repeating: "a", count: 129), String(repeating: "ä", count: 43),
            String(repeating: "+", count: 43), "",
        ])
    func refused(text: String) {
        #expect(CodeVerifier(text) == nil)
    }

    @Test("The shortest and the longest verifiers are accepted", arguments: [43, 128])
    func bounds(length: Int) {
        #expect(CodeVerifier(String(repeating: "~", count: length)) != nil)
    }

    @Test("A stored verifier that is invalid is an error")
    func decoding() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([CodeVerifier].self, from: Data(#"["short"]"#.utf8))
        }
    }
}
