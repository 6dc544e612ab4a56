internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import SignIn
internal import Sodium
internal import Support

/// Signs browsers in: exchanges a link for a cookie, and checks cookies. ``SignedToken`` has their lifetimes.
struct BrowserSignIn: Sendable {
    private let stack: String
    private let key: HMAC.Key
    private let used: UsedLinks
    private let now: @Sendable () -> Date

    init(stack: String, key: HMAC.Key, used: UsedLinks, now: @escaping @Sendable () -> Date = { Date() }) {
        self.stack = stack
        self.key = key
        self.used = used
        self.now = now
    }

    /// The name of the cookie. Cookies do not distinguish ports, so each stack has a name of its own.
    var cookieName: String {
        "segue-" + stack.replacingScalars { $0.isASCIILetter || $0.isASCIIDigit || $0 == "-" ? nil : "_" }
    }

    /// The part of the page that the first valid cookie of the request allows. Nil if there is none.
    func access(of request: Request) -> PageAccess? {
        for header in request.headers[values: .cookie] {
            for pair in header.split(scalar: ";") {
                guard let (name, value) = pair.cut(at: "="), name.trimmed == cookieName else { continue }
                let cookie = SignedToken(
                    String(value.trimmed), for: .cookie, stack: stack, key: key, lifetime: SignedToken.cookieLifetime,
                    now: now())
                if let cookie { return cookie.access }
            }
        }
        return nil
    }

    /// Exchanges a link for a cookie, which allows the same part of the page.
    ///
    /// The answer is a page that goes to `/` by itself, or to the view that the request names. After a redirect, a
    /// browser that came from a file would not send the cookie, because of `SameSite=Strict`.
    /// - Throws: ``RequestError`` if the use of the link cannot be stored.
    func exchange(_ request: Request) async throws -> Response {
        let now = now()
        guard let text = request.parameter("link"),
            let link = SignedToken(
                text, for: .link, stack: stack, key: key, lifetime: SignedToken.linkLifetime, now: now)
        else { return Self.page(.unauthorized, title: "This link is not valid", text: Self.advice) }
        let isNew: Bool
        do {
            isNew = try await used.use(link, now: now)
        } catch {
            throw RequestError(
                status: .internalServerError, code: "state", message: "the use of the link cannot be stored: \(error)")
        }
        guard isNew else { return Self.page(.unauthorized, title: "This link was used before", text: Self.advice) }
        let cookie = SignedToken(
            .cookie, access: link.access, stack: stack, key: key, lifetime: SignedToken.cookieLifetime, now: now)
        let target = Self.view(in: request).map { "/#/\($0)" } ?? "/"
        let session = link.access.session.map { " to the session '\(Escape.html($0))'" } ?? ""
        var response = Self.page(
            .ok, title: "You are signed in\(session)", text: "<p><a href=\"\(target)\">Open the page</a>",
            target: target)
        response.headers[.setCookie] =
            "\(cookieName)=\(cookie.text); Path=/; Max-Age=\(Int(SignedToken.cookieLifetime)); HttpOnly; SameSite=Strict"
            + (Self.isSecure(request) ? "; Secure" : "")
        return response
    }

    /// The part of the page that the request names, such as `map`, and its parameters. Nil if it names none, or if it has
    /// other characters than those of a word and of encoded parameters: it becomes a part of the page's markup.
    private static func view(in request: Request) -> String? {
        guard let view = request.parameter("view"), view.utf8.count <= PageFolder.viewLimit else { return nil }
        let parts = view.cut(at: "?")
        let name = parts.map { $0.before } ?? view[...]
        let isView =
            (1...20).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(\.isASCIILetter)
            && (parts?.after ?? "").unicodeScalars.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || "=,%-._~".unicodeScalars.contains($0)
            }
        return isView ? view : nil
    }

    /// True if the browser has sent the request to a proxy with https. The header can be believed: no page can make a
    /// browser add it to the request of a link, and a client that lies only gets a stricter cookie.
    private static func isSecure(_ request: Request) -> Bool {
        // Each proxy in a chain adds its own value; the first is that of the browser's connection.
        let first = request.headers[.forwardedProto]?.split(scalar: ",").first
        return first?.trimmed.lowercased() == "https"
    }

    private static let advice = """
        <p>Run <code>segue open</code> in a terminal, which opens this page with a new link. If this browser is on \
        another machine, open the link that <code>segue open --link</code> prints.
        """

    /// The answer to a browser that has not signed in.
    static var refusal: Response { page(.unauthorized, title: "This browser is not signed in", text: advice) }

    /// - Parameters:
    ///   - title: The title in HTML.
    ///   - target: The address to which the page goes by itself. Nil if it stays.
    private static func page(
        _ status: HTTPResponse.Status, title: String, text: String, target: String? = nil
    ) -> Response {
        .html(
            """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark">\(target.map { "\n<meta http-equiv=\"refresh\" content=\"0; url=\($0)\">" } ?? "")
            <title>Segue: \(title)</title>
            <link rel="icon" href="data:,">
            <h1>\(title)</h1>
            \(text)</p>
            </html>

            """, status: status)
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedProto = Self.known("X-Forwarded-Proto")
}
