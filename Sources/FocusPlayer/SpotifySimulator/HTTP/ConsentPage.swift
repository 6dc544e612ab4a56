import HTTPTypes
import Hummingbird

/// The page on which the user approves or denies: one plain form that a browser, `curl` or a test can submit.
///
/// The first button approves. The hidden fields carry the whole request, so that the page survives a restart.
struct ConsentPage {
    /// The value of `decision` that approves; any other denies.
    static let approval = "approve"

    let request: AuthorizationRequest
    let user: User

    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en">
        <title>Authorize \(escape(request.client.id))</title>
        <h1>\(escape(request.client.id)) would like to connect to the Spotify account of \(escape(user.name))</h1>
        <ul>
        \(request.scopes.map(\.rawValue).sorted().map { "<li>\(escape($0))</li>" }.joined(separator: "\n"))
        </ul>
        <form method="post" action="/authorize">
        \(hiddenFields)
        <button name="decision" value="\(Self.approval)">Agree</button>
        <button name="decision" value="deny">Cancel</button>
        </form>
        </html>

        """
    }

    private var hiddenFields: String {
        request.parameters.sorted { $0.key < $1.key }
            .map { #"<input type="hidden" name="\#(escape($0.key))" value="\#(escape($0.value))">"# }
            .joined(separator: "\n")
    }

    /// Everything on the page comes from the client's request or from a file.
    private func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;")
            .replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
