import Foundation
import HTTPTypes
import Hummingbird
import Support

/// The routes of the Web API that return the user and the playlists.
struct CatalogueRoutes: Sendable {
    let simulation: Simulation

    /// `GET /v1/me`
    func profile(_ request: Request, _ context: SimulatorContext) async throws -> WebAPIObject<ProfileFields> {
        let links = try WebAPILinks(request)
        let scopes = context.scopes
        return try await simulation.update { state, _ in
            let account = state.accounts[context.account]
            let user = account.catalogue.user
            var fields = ProfileFields(accountId: user.accountID, displayName: user.name)
            if scopes.contains(.userReadEmail) { fields.email = user.email }
            if scopes.contains(.userReadPrivate) { fields.product = account.player.isPremium ? "premium" : "free" }
            return links.object(type: "user", id: user.id, fields: fields)
        }
    }

    /// `GET /v1/me/playlists`
    func playlists(
        _ request: Request, _ context: SimulatorContext
    ) async throws -> PagingObject<WebAPIObject<PlaylistFields>> {
        let links = try WebAPILinks(request)
        let range = try PageRange(try request.queryFields())
        return try await simulation.update { state, _ in
            let account = state.accounts[context.account].catalogue
            return PagingObject(of: account.playlists, range: range, url: links.url("me/playlists")) {
                links.playlist($0, account: account.user)
            }
        }
    }

    /// `GET /v1/playlists/{id}`: the playlist as lists show it, without its items.
    func playlist(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let links = try WebAPILinks(request)
        let id = try context.parameters.require("id")
        let playlist = try await simulation.update { state, _ in
            let account = state.accounts[context.account].catalogue
            return links.playlist(try state.playlist(id, account: account), account: account.user)
        }
        return try response(playlist, to: request, context)
    }

    /// `GET /v1/playlists/{id}/items`
    func items(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        let links = try WebAPILinks(request)
        let id = try context.parameters.require("id")
        let query = try request.queryFields()
        let range = try PageRange(query, keeping: ["market", "fields", "additional_types"])
        let page = try await simulation.update { state, _ in
            let account = state.accounts[context.account].catalogue
            let playlist = try state.listablePlaylist(id, account: account)
            let owner = links.owner(of: playlist, account: account.user)
            return PagingObject(of: playlist.songs, range: range, url: links.url("playlists/\(id)/items")) {
                PlaylistItem(addedBy: owner, item: links.track($0, in: state.library))
            }
        }
        return try response(page, to: request, context)
    }

    /// The answer with the parts that `fields` selects.
    private func response(
        _ object: some ResponseEncodable & Encodable, to request: Request, _ context: SimulatorContext
    ) throws -> Response {
        guard let fields = try request.queryFields()["fields"] else {
            return try object.response(from: request, context: context)
        }
        let document = try FieldSelection(fields).applied(to: context.responseEncoder.encode(object))
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document)))
    }

    /// `GET /v1/playlists/{id}/tracks`: the deprecated name of `items`. The answer is an error with the status 403.
    func tracks(_ request: Request, _ context: SimulatorContext) async throws -> Response {
        throw WebAPIError.forbidden
    }
}

/// The part of a list that a client requests.
struct PageRange: Sendable, Equatable {
    /// The maximum number of items in the page, from 1 to 50. 20 by default.
    let limit: Int
    /// The number of items before the page, from 0 to 100,000. 0 by default.
    let offset: Int
    /// The other parameters of the query, which the links to other pages repeat.
    private let suffix: String

    /// - Parameters:
    ///   - query: The decoded query.
    ///   - names: The parameters that apply to the other pages, too.
    /// - Throws: An error with the status 400 if a value is not a number or is out of range.
    init(_ query: [String: String], keeping names: [String] = []) throws(WebAPIError) {
        guard let limit = Int(query["limit"] ?? "20"), (1...50).contains(limit) else {
            throw .badRequest("Invalid limit")
        }
        guard let offset = Int(query["offset"] ?? "0"), (0...100_000).contains(offset) else {
            throw .badRequest("Invalid offset")
        }
        self.limit = limit
        self.offset = offset
        suffix = names.compactMap { name in
            query[name].map { "&\(name)=\(PercentEncoding.encode($0))" }
        }.joined()
    }

    /// The query of the page at an offset.
    func query(at offset: Int) -> String { "offset=\(offset)&limit=\(limit)\(suffix)" }
}

/// A page of a list, with absolute links to the next and the previous page.
struct PagingObject<Item: Encodable & Sendable>: ResponseEncodable, Sendable {
    let href: String
    let items: [Item]
    let limit: Int
    let next: Nullable<String>
    let offset: Int
    let previous: Nullable<String>
    let total: Int

    /// - Parameters:
    ///   - all: The whole list.
    ///   - range: The requested part.
    ///   - url: The URL of the list, without a query.
    ///   - item: Converts an element into the form of the answer.
    init<Element>(of all: [Element], range: PageRange, url: String, item: (Element) -> Item) {
        func link(_ offset: Int) -> String { "\(url)?\(range.query(at: offset))" }
        let end = range.offset + range.limit
        href = link(range.offset)
        items = all.dropFirst(range.offset).prefix(range.limit).map(item)
        limit = range.limit
        next = Nullable(end < all.count ? link(end) : nil)
        offset = range.offset
        previous = Nullable(range.offset > 0 ? link(max(0, range.offset - range.limit)) : nil)
        total = all.count
    }
}
