internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
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
    }

    /// The files by their paths, which begin with `/`.
    private let files: [String: File]

    /// Reads a folder, or the page beside the running program.
    /// - Throws: ``GatewayError`` if there is no page, or if it is too large.
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
            let tag = "\"\(Base64URL.encode(SHA256.hash(content).prefix(16)))\""
            files["/\(name)"] = File(type: type, tag: tag, content: ByteBuffer(bytes: content))
        }
        files["/"] = files["/index.html"]
        self.files = files
    }

    private static var candidates: [String] {
        [InstalledFiles.programFolder].compactMap(\.self).map { "\($0)/\(resources)" }
            + InstalledFiles.folders().map { "\($0)/page" }
    }

    var paths: [String] { Array(files.keys) }

    /// - Throws: ``RequestError`` if there is no such file.
    func answer(_ request: Request) throws -> Response {
        guard let file = files[request.uri.path] else { throw RequestError.notFound("there is no such file") }
        var headers: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache"]
        let known = request.headers[.ifNoneMatch]?.split(scalar: ",") ?? []
        if known.contains(where: { $0.trimmed.ends(with: file.tag) }) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.type
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.content))
    }
}
