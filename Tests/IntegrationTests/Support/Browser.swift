import Foundation
import HTTPClient
import HTTPTypes

/// What a person does with a browser: reads the consent page, presses a button, and follows where that leads.
struct Browser {
    private static let maximumRedirects = 3

    private let client: HTTPClient

    static func open<Result>(_ body: (Browser) async throws -> Result) async throws -> Result {
        try await HTTPClient.with { try await body(Browser(client: $0)) }
    }

    /// Presses a button of the consent page.
    /// - Parameter decision: the button's value, `approve` or `deny`.
    /// - Returns: the page one ends on.
    @discardableResult
    func decide(_ decision: String, at url: String) async throws -> String {
        let page = try await send(HTTPClient.Request(.get, url))
        let fields = page.matches(of: #/<input type="hidden" name="([^"]*)" value="([^"]*)"/#)
        var form = fields.map { "\($0.1)=\(Self.escape(String($0.2)))" }
        form.append("decision=\(decision)")
        let action = URL(string: "/authorize", relativeTo: URL(string: url))?.absoluteString ?? url
        return try await send(.post(form: form.joined(separator: "&"), to: action))
    }

    /// Orders something of the simulator, as `/_control` describes.
    func control(_ path: String, _ form: String, port: Int) async throws {
        _ = try await send(.post(form: form, to: "http://127.0.0.1:\(port)/_control/\(path)"))
    }

    /// - Returns: the page that the redirects lead to.
    private func send(_ request: HTTPClient.Request) async throws -> String {
        var response = try await client.send(request, deadline: .seconds(30), maximumBody: 1 << 20)
        for _ in 0..<Self.maximumRedirects {
            guard response.status.kind == .redirection, let location = response.headers[.location] else { break }
            response = try await client.send(
                HTTPClient.Request(.get, location), deadline: .seconds(30), maximumBody: 1 << 20)
        }
        return response.text
    }

    private static func escape(_ html: String) -> String {
        let text = html.replacing("&amp;", with: "&").replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
        return text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
