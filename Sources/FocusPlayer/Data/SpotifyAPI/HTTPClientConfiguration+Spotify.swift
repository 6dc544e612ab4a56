package import AsyncHTTPClient
internal import NIOCore

extension HTTPClient.Configuration {
    /// What the clients here need: no redirects, which could take a token or a code to another host.
    package static var spotify: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = .seconds(10)
        return configuration
    }
}
