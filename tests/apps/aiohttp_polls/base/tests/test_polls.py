from aiohttp.test_utils import AioHTTPTestCase

from main import build_app


class PollsTest(AioHTTPTestCase):
    async def get_application(self):
        return build_app()

    async def test_a_vote_counts(self):
        await self.client.post("/polls", json={"name": "tea", "choices": ["green", "black"]})
        answer = await self.client.post("/polls/tea/votes", json={"choice": "green"})
        self.assertEqual((await answer.json())["votes"], 1)
