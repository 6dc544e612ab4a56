internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import SignIn
internal import Sodium
internal import Support
internal import SystemSupport

/// The files of the page, which are read once, when the gateway starts.
struct Assets: Sendable {
    /// The maximum size of all files in bytes.
    private static let sizeLimit = 2 << 20
    /// The folder of the page in the folder of resources that the package manager makes.
    private static let resources = "segue_WebPage.resources/Page"
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "ico": "image/x-icon", "json": "application/json",
        "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    ]

    private struct File: Sendable {
        let type: String
        let tag: String
        let content: ByteBuffer

        init(type: String, content: Data) {
            self.type = type
            tag = "\"\(Base64URL.encode(SHA256.hash(content).prefix(16)))\""
            self.content = ByteBuffer(bytes: content)
        }

        /// The page with the session in its first element. Nil if it has no element `<html>`.
        func page(of session: String) -> File? {
            let text = String(buffer: content)
            guard let (before, rest) = text.cut(at: "<html") else { return nil }
            let page = "\(before)<html data-session=\"\(Escape.html(session))\"\(rest)"
            return File(type: type, content: Data(page.utf8))
        }
    }

    /// The files by their paths, which begin with `/`.
    private let files: [String: File]

    /// Reads a folder, or the page beside the running program.
    /// - Throws: ``GatewayError`` if there is no page, if it is too large, or if it cannot tell a session.
    init(folder: String?) throws(GatewayError) {
        let candidates = folder.map { [$0] } ?? Self.candidates
        let manager = FileManager.default
        guard let root = candidates.first(where: { manager.fileExists(atPath: "\($0)/index.html") }) else {
            throw .noPage(candidates)
        }
        var files: [String: File] = [:]
        var size = 0
        for case let name as String in manager.enumerator(atPath: root) ?? FileManager.DirectoryEnumerator() {
            let suffix = name.split(scalar: ".").last.map(String.init) ?? ""
            // Other files, such as notes, are not part of the page.
            guard let type = Self.types[suffix], let content = manager.contents(atPath: "\(root)/\(name)") else {
                continue
            }
            size += content.count
            guard size <= Self.sizeLimit else { throw .largePage(root, limit: Self.sizeLimit) }
            let file = File(type: type, content: content)
            guard suffix != "html" || file.page(of: "") != nil else { throw .noElement("\(root)/\(name)") }
            files["/\(name)"] = file
        }
        files["/"] = files["/index.html"]
        self.files = files
    }

    private static var candidates: [String] {
        [InstalledFiles.programFolder].compactMap(\.self).map { "\($0)/\(resources)" }
            + InstalledFiles.folders().map { "\($0)/page" }
    }

    var paths: [String] { Array(files.keys) }

    /// A page tells the session of a browser that has signed in to one, in the attribute `data-session`: so it knows what it
    /// may show before its first request.
    /// - Throws: ``RequestError`` if there is no such file.
    func answer(_ request: Request, to access: PageAccess) throws -> Response {
        guard var file = files[request.uri.path] else { throw RequestError.notFound("there is no such file") }
        if let session = access.session, file.type == Self.types["html"], let page = file.page(of: session) {
            file = page
        }
        var headers: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache"]
        let known = request.headers[.ifNoneMatch]?.split(scalar: ",") ?? []
        if known.contains(where: { $0.trimmed.ends(with: file.tag) }) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.type
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.content))
    }
}
