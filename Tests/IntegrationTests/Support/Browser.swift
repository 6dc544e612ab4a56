import Foundation
import HTTPClient
import HTTPTypes

/// The browser of a person who reads the consent page, presses a button and follows the redirects.
struct Browser {
    private static let maximumRedirects = 3

    private let client: HTTPClient

    static func open<Result>(_ body: (Browser) async throws -> Result) async throws -> Result {
        try await HTTPClient.with { try await body(Browser(client: $0)) }
    }

    /// Presses a button of the consent page.
    /// - Parameters:
    ///   - decision: The value of the button: `approve` or `deny`.
    ///   - account: The account that the person chooses. Nil for the one that the page has chosen.
    /// - Returns: The page after the redirects.
    @discardableResult
    func decide(_ decision: String, as account: String? = nil, at url: String) async throws -> String {
        let page = try await send(HTTPClient.Request(.get, url))
        let fields = page.matches(of: #/<input type="hidden" name="([^"]*)" value="([^"]*)"/#)
        var form = fields.map { "\($0.1)=\(Self.escape(String($0.2)))" }
        let chosen = page.firstMatch(of: #/name="account" value="([^"]*)" checked/#).map { String($0.1) }
        if let account = account ?? chosen { form.append("account=\(Self.escape(account))") }
        form.append("decision=\(decision)")
        let action = URL(string: "/authorize", relativeTo: URL(string: url))?.absoluteString ?? url
        return try await send(.post(form: form.joined(separator: "&"), to: action))
    }

    /// Sends a form to a path below `/_control` of the simulator.
    func control(_ path: String, _ form: String, of simulator: String) async throws {
        _ = try await send(.post(form: form, to: "\(simulator)/_control/\(path)"))
    }

    /// - Returns: The page after the redirects.
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
