internal import HTTPTypes
internal import Hummingbird
internal import Support

extension Router<GatewayContext> {
    /// Creates the router: all paths of the gateway, and what each of them requires. `docs/page.md` describes them.
    static func gateway(_ routes: GatewayRoutes, hosts: AllowedHosts) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
            .add(middleware: Answers())
            .add(middleware: SameOrigin(hosts: hosts))
        router.get("metrics", use: routes.metrics)
        router.get("sign-in", use: routes.signIn)

        let page = router.group().add(middleware: SignedIn(browsers: routes.browsers))
        page.group("api")
            .get("stream/:stream", use: routes.stream)
            .post("stream/:stream/views", use: routes.views)
            .post("stream/:stream/device/:view", use: routes.device)
            .get("messages", use: routes.messages)
            .get("messages/:position", use: routes.message)
            .get("transient/:id", use: routes.transient)
            .get("story/:id", use: routes.story)
            .get("types", use: routes.types)
            .get("dead", use: routes.dead)
        page.group("api")
            .add(middleware: Publishing(isReadOnly: routes.isReadOnly))
            .post("messages", use: routes.publish)
            .post("dead", use: routes.settle)
        page.get("/", use: routes.asset)
        page.get("**", use: routes.asset)
        return router
    }
}
