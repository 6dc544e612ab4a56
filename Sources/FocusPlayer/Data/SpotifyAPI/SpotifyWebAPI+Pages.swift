internal import Music

extension SpotifyWebAPI {
    /// The most that is asked for at once: Spotify's limit.
    static let pageSize = 50
    /// 10,000 items, as many as a playlist can have, and a bound on a server that never ends.
    private static let maximumPages = 200

    /// All items of a list, page after page.
    ///
    /// The server says where the next page is. The token goes there only if that is the host it belongs to.
    /// - Parameter first: path and query of the first page.
    func pages<Item: Decodable>(from first: String, about what: String) async throws -> [Item] {
        var items: [Item] = []
        var visited: Set<String> = []
        var next: String? = host.url(first)
        while let url = next {
            guard host.isOrigin(of: url) else {
                throw MusicError.unavailable("it named a next page on another host")
            }
            guard visited.insert(url).inserted, visited.count <= Self.maximumPages else {
                throw MusicError.unavailable("its pages have no end")
            }
            let page = try await get(url, as: Page<Item>.self, about: what)
            items += page.items.compactMap(\.value)
            next = page.next
        }
        return items
    }
}
