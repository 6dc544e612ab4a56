import Authorization
import Testing

@Suite("Authorization callback")
struct AuthorizationCallbackTests {
    @Test("An approval has a code and a state, percent-encoding undone")
    func approval() {
        #expect(
            AuthorizationCallback(target: "/callback?code=a%2Fb&state=s%20t")
                == AuthorizationCallback(answer: .approved(code: "a/b"), state: "s t"))
    }

    @Test("An error wins over a code")
    func denial() {
        #expect(
            AuthorizationCallback(target: "/callback?error=access_denied&code=c&state=s")
                == AuthorizationCallback(answer: .denied(error: "access_denied"), state: "s"))
    }

    @Test(
        "What is no answer is nil: no state, nothing at all, a browser's other requests",
        arguments: ["/callback?code=c", "/callback?state=s", "/callback?code=&state=s", "/favicon.ico", "", "%%%"])
    func other(target: String) {
        #expect(AuthorizationCallback(target: target) == nil)
    }
}
