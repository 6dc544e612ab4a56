internal import Contracts
internal import HTTPTypes
internal import Hummingbird

/// What a person sees in the browser after consenting, or not.
struct ConsentResultPage {
    /// nil if the account is connected.
    let failure: ApplicationError?

    /// The service is stopping, or cannot use its files: nothing was lost, so the same answer may be brought again.
    static let interrupted = ConsentResultPage(
        failure: ApplicationError(
            code: "spotify.interrupted", message: "The answer could not be taken",
            recovery: "Reload this page in a moment."))

    /// The page's own address holds the code: nothing may keep the page or pass its address on.
    var response: Response {
        Response(
            status: failure == nil ? .ok : .badRequest,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    private var html: String {
        let title = failure.map(\.message) ?? "Spotify is connected"
        let advice = failure.map { $0.recovery ?? "" } ?? "The app goes on by itself."
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="referrer" content="no-referrer">
            <title>\(escape(title))</title>
            <h1>\(escape(title))</h1>
            <p>\(escape(advice))</p>
            <p>You may close this window.</p>
            </html>

            """
    }

    /// An error may quote what a server said.
    private func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
