/// Where the app can go: the cases are the screens of `config/flows/examples/router.yaml`.
package enum StationRoute: Hashable, Codable, Sendable {
    case station(code: String)
    case departure(id: Int, stationCode: String)
    case settings
}
