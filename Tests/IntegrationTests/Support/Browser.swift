import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// What a person does with a browser: reads the consent page, presses a button, and follows where that leads.
struct Browser {
    let client: HTTPClient

    static func open<Result: Sendable>(_ body: @Sendable (Browser) async throws -> Result) async throws -> Result {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .follow(max: 3, allowCycles: false)
        return try await HTTPClient.withHTTPClient(configuration: configuration) { try await body(Browser(client: $0)) }
    }

    /// Presses a button of the consent page.
    /// - Parameter decision: the button's value, `approve` or `deny`.
    /// - Returns: the page one ends on.
    @discardableResult
    func decide(_ decision: String, at url: String) async throws -> String {
        let page = try await send(HTTPClientRequest(url: url))
        let fields = page.matches(of: #/<input type="hidden" name="([^"]*)" value="([^"]*)"/#)
        var form = fields.map { "\($0.1)=\(Self.escape(String($0.2)))" }
        form.append("decision=\(decision)")
        var request = HTTPClientRequest(
            url: URL(string: "/authorize", relativeTo: URL(string: url))?.absoluteString ?? url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(Array(form.joined(separator: "&").utf8))
        return try await send(request)
    }

    /// Orders something of the simulator, as `/_control` describes.
    func control(_ path: String, _ form: String, port: Int) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/_control/\(path)")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(Array(form.utf8))
        _ = try await send(request)
    }

    private func send(_ request: HTTPClientRequest) async throws -> String {
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        return String(buffer: body)
    }

    private static func escape(_ html: String) -> String {
        let text = html.replacing("&amp;", with: "&").replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
        return text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
